import * as E from 'fp-ts/lib/Either.js';
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
};

const estimatedHeader = ['X-Switchyard-Estimated', 'true'];

async function estimate({ bytes }: WholeRequest, { response }: GatewayCall): Promise<CallResult> {
  const parsed = await parseMessages(bytes, maxTranslatedValues);
  // What the neutral form does not have, or has too many values, counts as text.
  const tokens = E.isLeft(parsed) ? Math.ceil(bytes.length / 4) : await estimateTokens(parsed.right.conversation);
  const headers = ['Content-Type', 'application/json', ...estimatedHeader];
  response.send(200, headers, JSON.stringify({ input_tokens: tokens }));
  return answeredHere;
}
