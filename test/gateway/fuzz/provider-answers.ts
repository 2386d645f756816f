import type { Json, JsonObject } from '#shared/json/json.ts';
import type { ProtocolName } from '#test/gateway/protocols/arbitrary-answers.ts';

/** The protocols in which a provider answers. */
export type AnsweredProtocol = ProtocolName | 'openai-embeddings' | 'openai-transcription';

/** An event of a stream: its value, or its data if that is no JSON. */
export type AnswerEvent = JsonObject | string;

/** A valid answer of a protocol, whole and as a stream. */
export interface ProviderAnswer {
  readonly whole: JsonObject;
  readonly events: ReadonlyArray<AnswerEvent>;
}

const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12, prompt_tokens_details: { cached_tokens: 2 } };
const common = { id: 'c1', created: 1, model: 'x' };
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };

function chunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { ...common, object: 'chat.completion.chunk', choices, ...more };
}

const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };

const chat: ProviderAnswer = {
  whole: {
    ...common,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'hello', refusal: null, reasoning_content: 'hm', tool_calls: [call] },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  },
  events: [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'hm' }),
    chunk({ content: 'hello' }),
    chunk({ content: ' there' }),
    chunk({ tool_calls: [{ index: 0, ...call, function: { name: 'weather', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
    chunk({ tool_calls: [{ index: 1, ...call, id: 'call_2' }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
    chunk({ content: [thinking, { type: 'text', text: 'again' }] }),
    chunk({ tool_calls: [{ function: { name: 'weather', arguments: { city: 'Oslo', days: 1.5 } } }] }),
    chunk({ function_call: { name: 'time', arguments: '{}' } }),
    chunk({}, 'tool_calls', { x_groq: { usage } }),
    { ...chunk({}), choices: [], usage },
    '[DONE]',
  ],
};

const counts = { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 2, cache_creation_input_tokens: 0 };
const message = { id: 'm1', type: 'message', role: 'assistant', model: 'x', stop_sequence: null };
const delta = (index: number, said: JsonObject) => ({ type: 'content_block_delta', index, delta: said });
const begin = (index: number, block: JsonObject) => ({ type: 'content_block_start', index, content_block: block });

const messages: ProviderAnswer = {
  whole: {
    ...message,
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'abc' },
      { type: 'text', text: 'hello' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo', days: [1, 2] } },
    ],
    stop_reason: 'tool_use',
    usage: counts,
  },
  events: [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: counts } },
    begin(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'hm' }),
    delta(0, { type: 'signature_delta', signature: 'abc' }),
    { type: 'content_block_stop', index: 0 },
    { type: 'ping' },
    begin(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: 'hello' }),
    { type: 'content_block_stop', index: 1 },
    begin(2, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"city":' }),
    delta(2, { type: 'input_json_delta', partial_json: '"Oslo"}' }),
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ],
};

const text = { type: 'output_text', text: 'hello', annotations: [] };
const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] };
const callItem = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather',
  arguments: '{"city":"Oslo"}',
};

function response(status: string, output: ReadonlyArray<Json>): JsonObject {
  const id = `resp_${'f'.repeat(20)}`;
  return { id, object: 'response', status, model: 'x', output, store: false, usage: null };
}

const completed = { ...response('completed', [item, callItem]), usage: { ...counts, total_tokens: 12 } };

const responses: ProviderAnswer = {
  whole: completed,
  events: [
    { type: 'response.created', response: response('in_progress', []) },
    { type: 'response.in_progress', response: response('in_progress', []) },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'hello' },
    { type: 'response.output_text.done', item_id: 'msg_1', output_index: 0, content_index: 0, text: 'hello' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 1, item: callItem },
    { type: 'response.completed', response: completed },
  ].map((event, index) => ({ ...event, sequence_number: index })),
};

const embedding = { object: 'embedding', index: 0, embedding: [0.5, -0.5, 1e-7] };
const transcript = { type: 'transcript.text.done', text: 'hello', usage: { type: 'duration', seconds: 3 } };

/** Valid answers of all protocols. */
export const providerAnswers: Readonly<Record<AnsweredProtocol, ProviderAnswer>> = {
  'openai-chat': chat,
  'anthropic-messages': messages,
  'openai-responses': responses,
  'openai-embeddings': { whole: { object: 'list', data: [embedding], model: 'x', usage }, events: [] },
  'openai-transcription': {
    whole: { text: 'hello', duration: 3, usage: { type: 'duration', seconds: 3 } },
    events: [{ type: 'transcript.text.delta', delta: 'hello' }, transcript],
  },
};
