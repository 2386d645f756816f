import assert from 'node:assert/strict';
import type { GatewayService } from '#test/gateway/support/gateway-service.ts';
import { eventsOfResponse, openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { openAiError } from './chat-samples.ts';
import { eventsNamedByType } from './messages-samples.ts';
import type { ReadStream, TextProtocol } from './text-protocol.ts';

const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12 };
const saidBy = (text: string) => openAiResponse([outputMessage(text)], { usage });
const failure = { status: 'failed', error: { code: 'server_error', message: 'busy' } };

export const responsesSamples: TextProtocol = {
  name: 'Responses',
  path: '/v1/responses',
  operation: 'responses',
  loggedOperation: 'create_response',
  client: {
    ask: { input: 'hi' },
    unchanged: { store: false },
    oddRequest: (model) => `{ "model" : "${model}","store":false,"odd":1.0,"input":"Gr\\u00fc\\u00df" }`,
    query: '',
    headers: { 'openai-beta': 'x=1', traceparent: '00-1' },
    droppedHeaders: { 'anthropic-beta': 'a' },
    refused: [
      ['no model', { input: 'hi' }, /model is required/],
      ['no input', { model: 'native' }, /input is required/],
      ['an input that is a number', { model: 'native', input: 5 }, /must be a string or a list of items/],
      ['an input of texts', { model: 'native', input: ['hi'] }, /must be an object/],
      ['a store that is a text', { model: 'native', input: 'hi', store: 'no' }, /must be true or false/],
      [
        'a response before it that is a number',
        { model: 'native', input: 'hi', previous_response_id: 5 },
        /must be a string/,
      ],
      ['a member that comes twice', '{"model":"native","input":"a","input":"b"}', /comes twice/],
      ['no JSON', '{', /JSON/],
      ['a background where no target has one', { model: 'native', input: 'hi', background: true }, /background/],
    ].map(([what, body, says]) => ({ what: String(what), body, status: 400, says: says as RegExp })),
    tooManyBytes: /body_too_large/,
    tooManyValues: { status: 400, says: /too_many_values/ },
    isContinuable: false,
    requestIdHeader: 'x-request-id',
    errorOf: openAiError,
    textOf: textOfResponse,
    readStream: readResponsesStream,
    hasErrorCodes: true,
    examine: examineStored,
  },
  provider: {
    settings: { kind: 'openai-compatible', responses: true },
    path: '/v1/responses',
    key: ['authorization', 'Bearer provider-secret'],
    answer: saidBy,
    oddAnswer: '{"id":"resp_1",  "output":[],"odd":1.50,"store":false,"status":"completed"}',
    error: (message) => ({ error: { message, type: 'server_error', param: null, code: 'odd' }, more: 1 }),
    events: (text) => eventsOfResponse(saidBy(text)),
    eventsBeforeContent: 4,
    oddEvent: 'event: response.odd\ndata: {"type":"response.odd","sequence_number":0}\n\n',
    ping: ': ping\n\n',
    errorEvent: {
      event:
        'event: error\ndata: {"type":"error","code":"server_error","message":"busy","param":null,"sequence_number":5}\n\n',
      reason: 'provider_failed',
      code: 'server_error',
    },
    endMark: {
      event: `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', sequence_number: 5, response: openAiResponse([], failure) })}\n\n`,
      reason: 'provider_failed',
      code: 'server_error',
    },
    endsWithoutMark: false,
  },
};

/** The text of a response. */
export function textOfResponse(response: unknown): string {
  const { output } = response as { output: ReadonlyArray<{ content?: ReadonlyArray<{ text: string }> }> };
  return output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join('');
}

function readResponsesStream(body: string): ReadStream {
  const events = eventsNamedByType(body);
  assert.deepEqual(
    events.map(({ sequence_number: number }) => number),
    events.map((_, index) => index),
  );
  const last = events.at(-1) ?? assert.fail('there is no event');
  assert.equal(last.response.id, events[0]?.response.id);
  assert.equal(last.type, `response.${last.response.status}`);
  return {
    text: last.type === 'response.completed' ? textOfResponse(last.response) : textOfDeltas(events),
    error: last.type === 'response.failed' ? last.response.error : null,
    isComplete: last.type === 'response.completed',
  };
}

const textOfDeltas = (events: ReturnType<typeof eventsNamedByType>) =>
  events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('');

/** A response is stored if it is complete. */
async function examineStored(service: GatewayService, stream: string): Promise<void> {
  const last = eventsNamedByType(stream).at(-1) ?? assert.fail('there is no event');
  const { status } = await fetch(`${service.url}/v1/responses/${last.response.id}`, {
    headers: { 'x-api-key': goodKey },
  });
  assert.equal(status, last.type === 'response.completed' ? 200 : 404);
}
