import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import { anthropicErrors } from '#exchange/error-form.ts';
import { turn } from '#exchange/turns.ts';
import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import { maxReadLength } from '#gateway/attempt/context-length.ts';
import { continueRead } from '#gateway/framing/json-members.ts';
import { answeredHere, type CallResult, type RelayedCall } from '#gateway/gateway-call.ts';
import { estimateTokens } from '#gateway/neutral/estimate-tokens.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { readMessagesRequest } from '#gateway/protocols/anthropic-messages/messages-request.ts';
import { parseMessages } from '#gateway/protocols/anthropic-messages/parse-messages.ts';
import { maxTranslatedValues } from '#gateway/protocols/protocol.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { integer } from '#shared/codecs/number.ts';
import { messageMembers, OptionalOfMessage } from './create-message.ts';
import { endpoint } from './endpoint.ts';
import { relayFailures } from './failures.ts';
import { relayedWhole, type WholeRequest } from './relayed-whole.ts';

/**
 * See https://docs.anthropic.com/en/api/messages-count-tokens. The provider counts where it can; for the other targets the
 * gateway estimates.
 */
export const countMessageTokens = endpoint({
  about: {
    name: 'count_message_tokens',
    summary: 'Count the tokens of a message',
    description:
      'As Anthropic’s. A target that cannot count gets an estimate of the gateway, which `X-Switchyard-Estimated: true` marks.',
    group: 'Gateway',
    example: {
      input: { model: 'auto', messages: [{ role: 'user', content: 'Hello' }] },
      output: { input_tokens: 8 },
    },
  },
  http: post('/v1/messages/count_tokens'),
  access: { scope: 'gateway:write' },
  input: t.intersection([t.type(messageMembers), OptionalOfMessage]),
  output: t.type({ input_tokens: integer(0, Number.MAX_SAFE_INTEGER) }, 'TokenCount'),
  failures: [...relayFailures, 'provider-resource-not-found', 'too-many-files'],
  errors: anthropicErrors,
  recordedAs: 'messages',
  route: (catalogue, { model }) => catalogue.chat(model, 'balanced'),
  ownAnswer: { replaces: isMissing, send: estimate },
  ...relayedWhole({
    path: '/messages/count_tokens',
    requiredMember: 'input_tokens',
    headers: anthropicMessages.client.headers,
    read: (bytes, maxValues) =>
      continueRead(readMessagesRequest(bytes, maxValues, false), ({ model, members, values, callIdEdits }) =>
        E.right({ bytes, members, values, model, isStreamed: false, edits: callIdEdits }),
      ),
  }),
});

/** What else a provider may fail to find; the client then needs that error. */
const otherSubjects = /(?<![a-z])(?:model|deployment|engine|file|container)(?![a-z])/i;
const foreignThought = /signature.{0,40}thinking|thinking.{0,40}signature/i;
const countNames = /count[_ -]?tokens|token count/i;
const absences =
  /not (?:found|supported|implemented|available|allowed)|unsupported|unknown|invalid url|no (?:route|handler|parser|such)/i;

/**
 * Many providers of Messages do not count tokens: they answer 404, 405 or 501, with a body or without, or 400 `Invalid
 * URL (POST /v1/messages/count_tokens)`.
 */
function isMissing(failure: AttemptFailure): boolean {
  if (failure.kind !== 'refused') return false;
  const { status, error, body } = failure;
  if (status === 405 || status === 501) return true;
  const text = error === null ? (body?.toString('utf8') ?? '') : `${error.code} ${error.message}`;
  const said = text.slice(0, maxReadLength);
  const isNamed = countNames.test(said);
  // A conversation that began at another model has thoughts that Anthropic did not sign.
  if (status === 400 && foreignThought.test(said)) return true;
  // A page or an empty body comes from a server without the path.
  if (status === 404) return error === null || isNamed || !otherSubjects.test(said);
  return (status === 400 || status === 422) && isNamed && absences.test(said);
}

const estimatedHeader = ['X-Switchyard-Estimated', 'true'];

async function estimate({ client, input: { bytes } }: RelayedCall<WholeRequest>): Promise<CallResult> {
  const parsed = await parseMessages(bytes, maxTranslatedValues);
  // What the neutral form does not have, or has too many values, counts as text.
  const tokens = E.isLeft(parsed)
    ? Math.ceil(bytes.length / 4)
    : await estimateTokens(parsed.right.conversation, (characters) => turn(currentWorkOwner(), 'body', characters));
  const headers = ['Content-Type', 'application/json', ...estimatedHeader];
  client.send(200, headers, JSON.stringify({ input_tokens: tokens }));
  return answeredHere;
}
