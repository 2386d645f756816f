import assert from 'node:assert/strict';
import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';
import {
  ResponsesAnswerReader,
  readResponsesAnswer,
} from '#gateway/protocols/openai-responses/responses-answer-reader.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';

const created = { type: 'response.created', response: { id: 'resp_1', model: 'm', status: 'in_progress' } };
const message = (...content: ReadonlyArray<object>) => ({ type: 'message', id: 'msg_1', content });
const text = { type: 'output_text', text: 'Hi.' };
const completed = (more: object = {}) => ({
  type: 'response.completed',
  response: { id: 'resp_1', model: 'm', status: 'completed', output: [], ...more },
});

/** What a stream says, without its beginning. */
function eventsOf(...events: ReadonlyArray<object>): ReadonlyArray<AnswerEvent> {
  const reader = new ResponsesAnswerReader(plainTarget);
  const [started, ...said] = [created, ...events].flatMap((event) => reader.read(JSON.stringify(event)));
  assert.deepEqual(started, { kind: 'started', id: 'resp_1', model: 'm' });
  return said;
}

function read(response: object) {
  const body = Buffer.from(JSON.stringify(response));
  return readResponsesAnswer(body, JSON.parse(body.toString()), plainTarget);
}

const finished = (reason: string) => [{ kind: 'finished', reason, stopSequence: null }, { kind: 'end' }];

describe('a stream of Responses', () => {
  it('has signs of life for thinking of which nothing is shown, and its opaque part', () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
    assert.deepEqual(
      eventsOf(
        { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, encrypted_content: 'begun' } },
        { type: 'keepalive' },
        { type: 'response.output_item.done', output_index: 0, item: { ...reasoning, encrypted_content: 'whole' } },
      ),
      [
        { kind: 'part-start' },
        { kind: 'signature', signature: { of: 'p', value: 'whole', isRedacted: true } },
        { kind: 'part-end', index: null },
      ],
    );
  });

  it('has the parts of a summary apart', () => {
    const delta = (index: number, said: string) => ({
      ...{ type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0 },
      ...{ summary_index: index, delta: said },
    });
    assert.deepEqual(
      eventsOf(delta(0, 'One'), delta(0, '.'), delta(1, 'Two.')).map((event) => 'text' in event && event.text),
      ['One', '.', '\n\nTwo.'],
    );
  });

  it('has one of a summary and the reasoning itself, which say the same', () => {
    const delta = (type: string) => ({ type, item_id: 'rs_1', output_index: 0, delta: 'Hm.' });
    assert.deepEqual(eventsOf(delta('response.reasoning_text.delta'), delta('response.reasoning_summary_text.delta')), [
      { kind: 'reasoning', text: 'Hm.' },
    ]);
  });

  it('has what only the last event has, beside what came before', () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' };
    assert.deepEqual(
      eventsOf(
        { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hi.' },
        completed({ output: [message(text), call], usage: { input_tokens: 3, output_tokens: 4 } }),
      ),
      [
        { kind: 'text', text: 'Hi.' },
        { kind: 'tool-call', index: 0, id: 'call_1', name: 'look', state: null },
        { kind: 'arguments', index: 0, text: '{}' },
        { kind: 'usage', tokens: { input: 3, output: 4 } },
        ...finished('tool-calls'),
      ],
    );
  });

  it('ends for the reason that the response has, wherever the provider says it', () => {
    const incomplete = (reason: string | null) => ({ status: 'incomplete', incomplete_details: { reason } });
    const event = (reason: string | null) => ({ ...completed(incomplete(reason)), type: 'response.incomplete' });
    for (const [last, reason] of [
      [completed(), 'stop'],
      [event('max_output_tokens'), 'length'],
      [event('content_filter'), 'filtered'],
      [event('something_new'), 'length'],
      [completed(incomplete('max_output_tokens')), 'length'],
    ] as const)
      assert.deepEqual(eventsOf(last), finished(reason));
  });

  it('ends with the error of a response that failed, and with what it used', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down' };
    const read = { ...error, type: null, param: null };
    const response = { id: 'resp_1', status: 'failed', error, usage: { input_tokens: 3, output_tokens: 0 } };
    assert.deepEqual(eventsOf({ type: 'response.failed', response }), [
      { kind: 'usage', tokens: { input: 3, output: 0 } },
      { kind: 'error', error: read },
    ]);
    for (const event of [{ type: 'error', ...error }, { type: 'error', error }, { error }])
      assert.deepEqual(
        eventsOf(event).map((each) => each.kind === 'error' && [each.error.code, each.error.message]),
        [[error.code, error.message]],
      );
    const [unnamed] = eventsOf({ type: 'response.failed', response: { status: 'failed', error: null } });
    assert.equal(unnamed?.kind, 'error');
  });

  it('passes over what the provider did itself, and cannot be read if it asks the client for something unknown', () => {
    const item = (type: string) => ({ type: 'response.output_item.added', output_index: 0, item: { type, id: 'x' } });
    assert.deepEqual(eventsOf(item('web_search_call'), { type: 'response.web_search_call.searching', item_id: 'x' }), [
      { kind: 'part-start' },
    ]);
    for (const type of ['computer_call', 'custom_tool_call', 'image_generation_call', 'something_new'])
      assert.deepEqual(eventsOf(item(type)), [{ kind: 'unreadable' }]);
  });

  it('begins before its first piece, whatever its provider leaves out', () => {
    const reader = new ResponsesAnswerReader(plainTarget);
    const delta = { type: 'response.output_text.delta', delta: 'Hi.' };
    assert.deepEqual(reader.read(JSON.stringify(delta)), [
      { kind: 'started', id: null, model: null },
      { kind: 'text', text: 'Hi.' },
    ]);
  });

  it('keeps count of items without an end', () => {
    const reader = new ResponsesAnswerReader(plainTarget);
    const added = (id: number) => ({ type: 'response.output_item.added', output_index: id, item: message() });
    for (let id = 0; id < 1_000; id += 1) reader.read(JSON.stringify(added(id)));
    assert.ok(reader.keptBytes > 100_000);
  });
});

describe('a whole response', () => {
  it('says what its items say, and nothing of what the provider did itself', () => {
    const reasoning = {
      ...{ type: 'reasoning', encrypted_content: 'opaque', content: [] },
      summary: [
        { type: 'summary_text', text: 'One.' },
        { type: 'summary_text', text: 'Two.' },
      ],
    };
    const output = [reasoning, { type: 'web_search_call' }, message(text, { type: 'refusal', refusal: 'No.' })];
    assert.deepEqual(read({ id: 'resp_1', model: 'm', status: 'completed', output }), {
      ...{ id: 'resp_1', model: 'm', reason: 'stop', stopSequence: null, tokens: null },
      parts: [
        { kind: 'reasoning', text: 'One.\n\nTwo.', signature: { of: 'p', value: 'opaque', isRedacted: false } },
        { kind: 'text', text: 'Hi.' },
        { kind: 'refusal', text: 'No.' },
      ],
    });
  });

  it('has the arguments of a call byte for byte, although they are an object', () => {
    const body = Buffer.from('{"output":[{"type":"function_call","call_id":"c","name":"f","arguments":{"n": 1.0}}]}');
    const [call] = readResponsesAnswer(body, JSON.parse(body.toString()), plainTarget)?.parts ?? [];
    assert.ok(call?.kind === 'tool-call');
    assert.equal(call.arguments, '{"n": 1.0}');
  });

  it('cannot be read if it is not finished, or has something of an unknown type', () => {
    for (const response of [
      { status: 'queued', output: [] },
      { status: 'failed', output: [] },
      { status: 'completed' },
      { status: 'completed', output: [{ type: 'computer_call' }] },
      { status: 'completed', output: [message({ type: 'output_audio' })] },
    ])
      assert.equal(read(response), null, JSON.stringify(response));
  });
});
