import * as E from 'fp-ts/lib/Either.js';
import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import { maxReadLength } from '#gateway/attempt/context-length.ts';
import { answeredHere, type CallResult, type GatewayCall } from '#gateway/gateway-call.ts';
import { estimateTokens } from '#gateway/neutral/estimate-tokens.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { readMessagesRequest } from '#gateway/protocols/anthropic-messages/messages-request.ts';
import { parseMessages } from '#gateway/protocols/anthropic-messages/parse-messages.ts';
import { maxTranslatedValues } from '#gateway/protocols/protocol.ts';
import type { WholeOperation, WholeRequest } from './whole-operation.ts';

/**
 * `POST /v1/messages/count_tokens` (https://docs.anthropic.com/en/api/messages-count-tokens). The provider counts where it
 * can; for the other targets the gateway estimates.
 */
export const countTokens: WholeOperation = {
  operation: 'messages',
  path: '/messages/count_tokens',
  requiredMember: 'input_tokens',
  headers: anthropicMessages.client.headers,
  read: (bytes, maxValues) => readMessagesRequest(bytes, maxValues, false),
  route: (catalogue, model) => catalogue.chat(model, 'balanced'),
  answerHere: estimate,
  isMissing,
};

/** What else a provider may not find: then the client has to know it. */
const otherSubjects = /(?<![a-z])(?:model|deployment|engine|file|container)(?![a-z])/i;
const countNames = /count[_ -]?tokens|token count/i;
const absences =
  /not (?:found|supported|implemented|available|allowed)|unsupported|unknown|invalid url|no (?:route|handler|parser|such)/i;

/**
 * Whether a provider of Messages does not count tokens, as many do not: they answer 404, 405 or 501, with a body or
 * without, or 400 `Invalid URL (POST /v1/messages/count_tokens)`.
 */
function isMissing(failure: AttemptFailure): boolean {
  if (failure.kind !== 'refused') return false;
  const { status, error, body } = failure;
  if (status === 405 || status === 501) return true;
  const text = error === null ? (body?.toString('utf8') ?? '') : `${error.code} ${error.message}`;
  const said = text.slice(0, maxReadLength);
  const isNamed = countNames.test(said);
  // A page or an empty body comes from a server without the path.
  if (status === 404) return error === null || isNamed || !otherSubjects.test(said);
  return (status === 400 || status === 422) && isNamed && absences.test(said);
}

const estimatedHeader = ['X-Switchyard-Estimated', 'true'];

async function estimate({ bytes }: WholeRequest, { response }: GatewayCall): Promise<CallResult> {
  const parsed = await parseMessages(bytes, maxTranslatedValues);
  // What the neutral form does not have, or has too many values, counts as text.
  const tokens = E.isLeft(parsed) ? Math.ceil(bytes.length / 4) : await estimateTokens(parsed.right.conversation);
  const headers = ['Content-Type', 'application/json', ...estimatedHeader];
  response.send(200, headers, JSON.stringify({ input_tokens: tokens }));
  return answeredHere;
}
