import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import type { CallResult, GatewayCall } from '#gateway/gateway-call.ts';
import { listInputItems } from '#gateway/responses/list-input-items.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { integer } from '#shared/codecs/number.ts';
import { group, idIn, notFoundHere, ofConversations, orUnavailable, responseId } from './conversations.ts';
import { localEndpoint } from './endpoint.ts';

const defaultLimit = 20;
const maxLimit = 100;

export const listResponseInputItems = localEndpoint({
  ...ofConversations,
  about: {
    name: 'list_response_input_items',
    summary: 'List the input items of a stored response',
    description: 'Those of the turns before it too. The newest come first, unless `order` is `asc`.',
    group,
    example: {
      output: {
        object: 'list',
        data: [
          {
            id: 'msg_0',
            type: 'message',
            status: 'completed',
            role: 'user',
            content: [{ type: 'input_text', text: 'Hello' }],
          },
        ],
        first_id: 'msg_0',
        last_id: 'msg_0',
        has_more: false,
      },
    },
  },
  http: get('/v1/responses/:responseId/input_items'),
  input: t.intersection([
    t.type(responseId),
    t.partial({ limit: integer(1, maxLimit), order: enumeration('ItemOrder', 'asc', 'desc'), after: t.string }),
  ]),
  output: t.type(
    {
      object: t.literal('list'),
      data: t.array(jsonObject),
      first_id: nullable(t.string),
      last_id: nullable(t.string),
      has_more: t.boolean,
    },
    'ResponseItemList',
  ),
  failures: ['response-not-found', 'body-too-large', 'unavailable'],
  answer: (call) => orUnavailable(() => answer(call)),
});

async function answer(call: GatewayCall): Promise<CallResult> {
  const id = idIn(call);
  const last = await call.gateway.responses.turns.findOutline(call.caller.projectId, id);
  if (last === null) return E.left(notFoundHere(id));
  const query = new URLSearchParams(call.query);
  const limit = Number(query.get('limit') ?? defaultLimit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) return E.left(notALimit);
  const order = query.get('order') === 'asc' ? 'asc' : 'desc';
  return listInputItems(call, last, { limit, order, after: query.get('after') });
}

const notALimit = invalidInput([
  { pointer: '/limit', parameter: 'limit', message: `must be a whole number from 1 to ${maxLimit}` },
]);
