import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { reasoningHints } from '#gateway/protocols/protocol.ts';
import { relayedText } from '#gateway/text/relayed-text.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { json, jsonObject } from '#shared/codecs/json-value.ts';
import { endpoint } from './endpoint.ts';
import { failuresOfFiles, relayFailures } from './failures.ts';

const Message = withJsonSchema(t.type({ role: t.string }), {
  type: 'object',
  properties: {
    role: { type: 'string' },
    content: { anyOf: [{ type: 'string' }, { type: 'array', items: {} }, { type: 'null' }] },
  },
  required: ['role'],
  additionalProperties: true,
});

/** The hint of `auto`. Any other model gets the value unchanged. */
const Reasoning = withJsonSchema(nullable(json), {
  description: `With the model auto one of ${reasoningHints.join(', ')}; with another model it is passed on as it is`,
  examples: ['fast'],
});

/** Only the members that the gateway checks; providers accept others. */
const ChatCompletion = t.intersection(
  [
    t.type({ choices: t.array(jsonObject) }),
    t.partial({ id: t.string, object: t.string, created: t.number, model: t.string, usage: nullable(jsonObject) }),
  ],
  'ChatCompletion',
);

export const completeChat = endpoint({
  about: {
    name: 'complete_chat',
    summary: 'Complete a chat',
    description:
      'As OpenAI’s. `model` is a tag of the catalogue, or `auto`, which picks one by `reasoning`. A `file_id` in `file` names a file of this project, needs `files:read` and is sent inside the call. Every other member is passed on as it is.',
    group: 'Gateway',
    example: {
      input: { model: 'auto', reasoning: 'fast', messages: [{ role: 'user', content: 'Hello' }] },
      output: {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1_767_225_600,
        model: 'gpt-4.1',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      },
    },
  },
  http: post('/v1/chat/completions'),
  access: { scope: 'gateway:write' },
  input: t.intersection([
    t.type({ model: t.string, messages: t.array(Message) }),
    t.partial({ stream: nullable(t.boolean), reasoning: Reasoning }),
  ]),
  output: ChatCompletion,
  produces: ['text/event-stream'],
  failures: [...relayFailures, 'unsupported-by-target', 'provider-resource-not-found', ...failuresOfFiles],
  recordedAs: 'chat',
  ...relayedText(openAiChat),
});
