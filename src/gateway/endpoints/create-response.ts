import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import { relayResponse } from '#gateway/responses/relay-response.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { integer } from '#shared/codecs/number.ts';
import { exampleResponse, group, ofConversations, Response } from './conversations.ts';
import { localEndpoint } from './endpoint.ts';
import { fileFailures, relayFailures } from './failures.ts';

export const createResponse = localEndpoint({
  ...ofConversations,
  about: {
    name: 'create_response',
    summary: 'Create a response',
    description:
      'As OpenAI’s, on any model: `model` is a tag of the catalogue, or `auto`. The response and its items are stored for this project, for 30 days, unless `store` is false; `previous_response_id` continues it on any model. The provider never stores it, unless it makes it in the background (`background`, only on a target with `hostedTools`). A `file_id` names a file of this project and needs `files:read`.',
    group,
    example: { input: { model: 'auto', input: 'Hello' }, output: exampleResponse },
  },
  http: post('/v1/responses'),
  input: t.intersection([
    t.type({ model: t.string }),
    t.partial({
      input: t.union([t.string, t.array(jsonObject)]),
      instructions: nullable(t.string),
      previous_response_id: nullable(t.string),
      store: nullable(t.boolean),
      stream: nullable(t.boolean),
      background: nullable(t.boolean),
      tools: t.array(jsonObject),
      max_output_tokens: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    }),
  ]),
  output: Response,
  produces: ['text/event-stream'],
  failures: [
    ...relayFailures,
    'unsupported-by-target',
    'provider-resource-not-found',
    'response-not-found',
    'response-not-finished',
    'conversation-too-long',
    'response-item-not-found',
    ...fileFailures,
  ],
  answer: relayResponse,
});
