import assert from 'node:assert/strict';
import { chunk, completion, done, role, words } from '#test/gateway/support/fake-provider.ts';
import { halvesOf } from '#test/gateway/support/strict-provider.ts';
import type { ReadStream, ReportedError, TextProtocol } from './text-protocol.ts';

const messages = [{ role: 'user', content: 'hi' }];
const usage = { usage: { prompt_tokens: 5, completion_tokens: 7 } };

export const chatSamples: TextProtocol = {
  name: 'chat',
  path: '/v1/chat/completions',
  operation: 'chat',
  loggedOperation: 'complete_chat',
  client: {
    ask: { messages },
    unchanged: {},
    oddRequest: (model) =>
      '{ "messages" : [ {"role":"user","content":"\\u0068\\u00ef \\ud83d\\ude00 \u{1F600}"} ],\r\n ' +
      `"model":"${model}", "n":1.0e0, "seed":123456789012345678901234567890, "x":{"model":"native"}, ` +
      `"model":"${model}" , "x":[ ]}`,
    query: '',
    headers: { 'openai-beta': 'x=1', traceparent: '00-1' },
    droppedHeaders: { 'anthropic-beta': 'a' },
    refused: [
      {
        what: 'an unknown model',
        body: { model: 'gpt-9', messages },
        status: 404,
        says: /^\{"error":.*model_not_found/,
      },
      { what: 'no JSON', body: '{"model":', status: 422, says: /json_invalid/ },
      { what: 'no object', body: '[]', status: 422, says: /"detail":\[.*invalid_input/ },
      {
        what: 'an unknown hint',
        body: { model: 'auto', messages, reasoning: 'deep' },
        status: 422,
        says: /"detail":\[.*invalid_input/,
      },
      { what: 'no messages', body: { model: 'native' }, status: 422, says: /"detail":\[.*invalid_input/ },
    ],
    tooManyBytes: /body_too_large/,
    tooManyValues: { status: 422, says: /"loc":\["body","extra",\d+\].*"param":"extra\[\d+\]".*too_many_values/ },
    isContinuable: true,
    requestIdHeader: 'x-request-id',
    errorOf: openAiError,
    textOf: (body) => (body as ReturnType<typeof completion>).choices[0]?.message.content ?? '',
    readStream: readChatStream,
    hasErrorCodes: true,
  },
  provider: {
    settings: { kind: 'openai-compatible' },
    path: '/v1/chat/completions',
    key: ['authorization', 'Bearer provider-secret'],
    answer: completion,
    oddAnswer: '{"choices": [ ],\n "model":"gpt-x-2026", "odd":1.50, "odd":2}',
    error: (message) => ({ error: { message, type: 'overloaded_error', param: null, code: 'odd' }, more: 1 }),
    events: (text) => [role, ...words(...halvesOf(text)), chunk({}, 'stop', usage), done],
    eventsBeforeContent: 1,
    oddEvent: 'event: odd\nid: 7\ndata: {"choices":[{"index":0,"delta":{},"odd":1.50}]}\n\n',
    ping: ': ping\n\n',
    errorEvent: {
      event: 'data: {"error":{"message":"busy","type":"server_error","code":"b"}}\n\n',
      reason: 'provider_failed',
      code: 'b',
    },
    endMark: { event: done, reason: 'provider_unfinished', code: 'provider_unfinished' },
    endsWithoutMark: true,
  },
};

/** Checks the members of an error in OpenAI's form. */
export function openAiError(body: unknown): ReportedError {
  const { error } = body as { error: ReportedError };
  assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
  return error;
}

function readChatStream(body: string): ReadStream {
  const data = body
    .split('\n\n')
    .flatMap((event) => (event.startsWith('data: ') ? [event.slice('data: '.length)] : []));
  const events = data.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text));
  const choices = events.flatMap((event) => event.choices ?? []);
  return {
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    error: events.find(({ error }) => error !== undefined)?.error ?? null,
    isComplete: data.at(-1) === '[DONE]' && choices.some(({ finish_reason: finish }) => finish === 'stop'),
  };
}
