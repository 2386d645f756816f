import assert from 'node:assert/strict';
import { eventsOf } from '#test/gateway/support/strict-messages.ts';
import type { ReadStream, ReportedError, TextProtocol } from './text-protocol.ts';

const ask = { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };

/** A whole message of Anthropic's. */
export const anthropicMessage = (text: string, more: object = {}) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x' },
  content: [{ type: 'text', text }],
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 5, output_tokens: 7 }, ...more },
});

export const messagesSamples: TextProtocol = {
  name: 'Messages',
  path: '/v1/messages',
  operation: 'messages',
  loggedOperation: 'create_message',
  client: {
    ask,
    unchanged: {},
    oddRequest: (model) =>
      `{ "model" : "${model}","max_tokens":5,"odd":1.0,"messages":[{"role":"user","content":"\\u0068i"}] }`,
    query: '?beta=true',
    headers: { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,b', traceparent: '00-1' },
    droppedHeaders: { 'openai-organization': 'x' },
    refused: [
      { what: 'no model', body: ask, status: 400, says: /invalid_request_error.*\/model is required/ },
      { what: 'an unknown model', body: { model: 'none', ...ask }, status: 404, says: /not_found_error.*no model/ },
      { what: 'no JSON', body: '{', status: 400, says: /invalid_request_error.*not JSON/ },
      {
        what: 'all that is wrong',
        body: { model: 'native', messages: 5 },
        status: 400,
        says: /invalid_request_error.*\/messages must be an array.*\/max_tokens is required/,
      },
    ],
    tooManyBytes: /request_too_large/,
    tooManyValues: { status: 400, says: /invalid_request_error/ },
    isContinuable: true,
    requestIdHeader: 'request-id',
    errorOf: anthropicError,
    textOf: (body) => (body as ReturnType<typeof anthropicMessage>).content[0]?.text ?? '',
    readStream: readMessagesStream,
    hasErrorCodes: false,
  },
  provider: {
    settings: { kind: 'anthropic' },
    path: '/v1/messages',
    key: ['x-api-key', 'provider-secret'],
    answer: anthropicMessage,
    oddAnswer:
      '{"id":"msg_1",  "content":[{"type":"text","text":"Gr\\u00fc\u00df"}],"odd":1.50,"usage":{"input_tokens":3,"output_tokens":4}}',
    error: (message) => ({ type: 'error', error: { type: 'overloaded_error', message }, request_id: 'req_9' }),
    events: (text) => eventsOf(anthropicMessage(text)),
    eventsBeforeContent: 3,
    oddEvent: 'event: new\ndata: {"type":"new"}\n\n',
    ping: 'event: ping\ndata: {"type":"ping"}\n\n',
    errorEvent: {
      event: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
      reason: 'provider_overloaded',
      code: null,
    },
    endMark: {
      event: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      reason: 'provider_unfinished',
      code: 'provider_unfinished',
    },
    endsWithoutMark: true,
  },
};

function anthropicError(body: unknown, headers: Headers): ReportedError {
  const { type, error, request_id: requestId } = body as { type: string; error: ReportedError; request_id: string };
  assert.deepEqual([type, requestId], ['error', headers.get('request-id')]);
  assert.deepEqual(Object.keys(error), ['type', 'message']);
  return error;
}

function readMessagesStream(body: string): ReadStream {
  const events = eventsNamedByType(body);
  const types = events.map(({ type }) => type);
  for (const once of ['message_start', 'content_block_start'])
    assert.equal(types.filter((type) => type === once).length, 1, `${once} comes once`);
  assert.match(types.slice(-1).join(), /^(message_stop|error)$/);
  return {
    text: events.map(({ delta }) => delta?.text ?? '').join(''),
    error: events.find(({ type }) => type === 'error')?.error ?? null,
    isComplete: types.at(-1) === 'message_stop',
  };
}

// biome-ignore lint/suspicious/noExplicitAny: The events are what the test examines.
type NamedEvent = { readonly type: string; readonly [member: string]: any };

/** The events of a stream that names each one by its type. */
export function eventsNamedByType(body: string): ReadonlyArray<NamedEvent> {
  return body.split('\n\n').flatMap((frame) => {
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/s.exec(frame) ?? [];
    if (name === undefined || data === undefined) return [];
    const event: NamedEvent = JSON.parse(data);
    assert.equal(event.type, name, 'the name of an event is its type');
    return [event];
  });
}
