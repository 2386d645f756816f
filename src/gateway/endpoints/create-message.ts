import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { relayedText } from '#gateway/text/relayed-text.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { integer } from '#shared/codecs/number.ts';
import { endpoint } from './endpoint.ts';
import { relayFailures } from './failures.ts';

/** A text, or blocks of a type with members of their own. */
const blocks = t.union([t.string, t.array(jsonObject)]);

/** The members that a message must have, and those that it may have. Counting tokens checks them, too. */
export const messageMembers = {
  model: t.string,
  messages: t.array(t.type({ role: t.string, content: blocks })),
};
export const OptionalOfMessage = t.partial({ system: blocks, tools: t.array(jsonObject), tool_choice: jsonObject });

const MessageAnswer = t.intersection(
  [
    t.type({ content: t.array(jsonObject) }),
    t.partial({
      id: t.string,
      type: t.literal('message'),
      role: t.literal('assistant'),
      model: t.string,
      stop_reason: nullable(t.string),
      stop_sequence: nullable(t.string),
      usage: jsonObject,
    }),
  ],
  'MessageAnswer',
);

export const createMessage = endpoint({
  about: {
    name: 'create_message',
    summary: 'Create a message',
    description:
      'As Anthropic’s, on any model: `model` is a tag of the catalogue, or `auto`. A target that speaks this protocol gets every other member as it is. For another target the request is translated; `X-Switchyard-Ignored` names what it does not get.',
    group: 'Gateway',
    example: {
      input: { model: 'auto', max_tokens: 1_024, messages: [{ role: 'user', content: 'Hello' }] },
      output: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [{ type: 'text', text: 'Hello!' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 2 },
      },
    },
  },
  http: post('/v1/messages'),
  access: { scope: 'gateway:write' },
  input: t.intersection([
    t.type({ ...messageMembers, max_tokens: integer(1, Number.MAX_SAFE_INTEGER) }),
    OptionalOfMessage,
    t.partial({ stream: nullable(t.boolean), thinking: jsonObject, metadata: jsonObject }),
  ]),
  output: MessageAnswer,
  produces: ['text/event-stream'],
  failures: [...relayFailures, 'unsupported-by-target', 'provider-resource-not-found', 'too-many-files'],
  recordedAs: 'messages',
  ...relayedText(anthropicMessages),
});
