import assert from 'node:assert/strict';
import { ApiError } from '#dashboard/page/api/api-error.ts';
import type { TargetStatus } from '#dashboard/page/api/records.ts';
import { chatBody, curlOf, firstAnswer, nextAnswer } from '#dashboard/page/views/gateway/chat-call.ts';
import {
  comparison,
  errorPercents,
  newest,
  perMinute,
  routesOf,
} from '#dashboard/page/views/gateway/gateway-report.ts';

describe('figures of the gateway on the dashboard', () => {
  it('shows a gap instead of zero for an interval without calls', () => {
    assert.deepEqual(errorPercents([100, 0, 50], [1, 0, 50]), [1, null, 100]);
  });

  it('computes the rate of the running interval from the time that has passed', () => {
    const times = ['2026-11-20T14:00:00.000Z', '2026-11-20T14:15:00.000Z'];
    const at = (time: string) => perMinute([30, 30], { interval: 'quarter-hour', times }, Date.parse(time));
    assert.deepEqual(at('2026-11-20T14:20:00Z'), [2, 6]);
    assert.deepEqual(at('2026-11-20T14:15:01Z'), [2, 10]);
    assert.deepEqual(at('2026-11-20T15:00:00Z'), [2, 2]);
  });

  it('shows the newest value', () => {
    assert.deepEqual([newest([1, 2, null]), newest([null]), newest([])], [2, null, null]);
  });

  it('names the target that serves most calls of a model in place of the first target', () => {
    const target = (name: string, servesModels: ReadonlyArray<string>): TargetStatus => ({
      target: name,
      provider: 'a',
      model: 'x',
      servesModels,
      circuit: 'closed',
      isKeyRefused: false,
      attempts: { served: 0, refused: 0, failed: 0, abandoned: 0 },
      successRate: null,
      p50Ms: null,
      p95Ms: null,
      lastFailure: null,
    });
    const targets = [target('a/x', ['large', 'alone']), target('b/x', ['large'])];
    const health = { node: 'n', windowSeconds: 300, targets, circuitChanges: [] };
    const routes = [
      { model: 'large', target: 'a/x', calls: [5, 0, 0], total: 5 },
      { model: 'large', target: 'b/x', calls: [0, 15, 0], total: 15 },
    ];
    const found = routesOf({ health, routes });
    assert.deepEqual(
      found.map(({ model, first, carrying, share }) => [model, first.target, carrying.target, share]),
      [['large', 'a/x', 'b/x', 75]],
    );
    assert.deepEqual(routesOf({ health: null, routes: null }), []);
  });

  it('compares with the previous period when that has values', () => {
    assert.deepEqual(
      [comparison(107, 100, '24 h'), comparison(90, 100, '1 h'), comparison(1, 0, '1 h')],
      ['+7% on the 24 h before', '−10% on the 1 h before', ''],
    );
  });
});

describe('playground of the dashboard', () => {
  const chunk = (content: string) => JSON.stringify({ model: 'gpt-4.1', choices: [{ delta: { content } }] });

  it('assembles the answer piece by piece, with the time of the first content', () => {
    const first = nextAnswer(firstAnswer, chunk('Good '), 612);
    const second = nextAnswer(first, chunk('<b>day</b>'), 800);
    assert.deepEqual(
      [second.text, second.firstContentMs, second.contentMs, second.pieces, second.model],
      ['Good <b>day</b>', 612, 188, 2, 'gpt-4.1'],
    );
    assert.equal(nextAnswer(second, '[DONE]', 900).isDone, true);
  });

  it('reports why an answer broke off', () => {
    assert.throws(
      () => nextAnswer(firstAnswer, '{"error":{"message":"The provider left.","code":"provider_reset"}}', 1),
      new ApiError({ status: 200, code: 'provider_reset', detail: 'The provider left.' }),
    );
  });

  it('reads an answer of Messages, and calls that path', () => {
    const events = [
      { type: 'message_start', message: { model: 'claude-x' } },
      { type: 'ping' },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Good ' } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'day' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    ];
    const { text, model, tokens, pieces } = events.reduce(
      (answer, event, at) => nextAnswer(answer, JSON.stringify(event), at),
      firstAnswer,
    );
    assert.deepEqual([text, model, tokens, pieces], ['Good day', 'claude-x', 3, 2]);
    const call = { protocol: 'messages', model: 'auto', reasoning: 'fast', messages: [], previousId: null } as const;
    assert.deepEqual(chatBody(call), { model: 'auto', max_tokens: 1_024, messages: [], stream: true });
    assert.match(curlOf('http://127.0.0.1:8080', call), /^curl -N http:\/\/127\.0\.0\.1:8080\/v1\/messages /);
  });

  it('reads an answer of Responses, and continues it by its id', () => {
    const response = { id: 'resp_1', model: 'gpt-x', store: true };
    const events = [
      { type: 'response.created', response },
      { type: 'response.output_item.added', item: {} },
      { type: 'response.output_text.delta', delta: 'Good ' },
      { type: 'response.output_text.delta', delta: 'day' },
      { type: 'response.completed', response: { ...response, usage: { output_tokens: 3 } } },
    ];
    const answer = events.reduce((so, event, at) => nextAnswer(so, JSON.stringify(event), at), firstAnswer);
    assert.deepEqual([answer.text, answer.model, answer.tokens, answer.id], ['Good day', 'gpt-x', 3, 'resp_1']);
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Good day' },
      { role: 'user', content: 'More' },
    ] as const;
    const call = { protocol: 'responses', model: 'auto', reasoning: 'fast', messages } as const;
    const next = chatBody({ ...call, previousId: answer.id });
    assert.deepEqual(next, { model: 'auto', input: [messages[2]], previous_response_id: 'resp_1', stream: true });
    assert.deepEqual(chatBody({ ...call, previousId: null }), { model: 'auto', input: messages, stream: true });
    const notStored = JSON.stringify({ type: 'response.completed', response: { ...response, store: false } });
    assert.equal(nextAnswer(answer, notStored, 9).id, null);
    const failed = '{"type":"error","message":"The provider left.","code":"provider_reset","sequence_number":4}';
    assert.throws(() => nextAnswer(answer, failed, 9), /The provider left/);
    const error = { message: 'The connection broke.', code: 'provider_reset' };
    const failedAs = (reported: object | null) =>
      JSON.stringify({ type: 'response.failed', response: { ...response, status: 'failed', error: reported } });
    assert.throws(
      () => nextAnswer(answer, failedAs(error), 9),
      new ApiError({ status: 200, code: error.code, detail: error.message }),
    );
    assert.throws(() => nextAnswer(answer, failedAs(null), 9), /The answer ended too early/);
  });

  it('sends the hint only with the model auto, and shows the same call for a shell', () => {
    const messages = [{ role: 'user', content: "It’s me, isn't it?" }] as const;
    const previousId = null;
    assert.deepEqual(chatBody({ protocol: 'chat', model: 'small', reasoning: 'fast', messages, previousId }), {
      model: 'small',
      messages,
      stream: true,
    });
    const line = curlOf('http://127.0.0.1:8080', {
      protocol: 'chat',
      model: 'auto',
      reasoning: 'fast',
      messages,
      previousId,
    });
    assert.match(line, /"reasoning":"fast"/);
    assert.ok(line.includes("isn'\\''t it?") && !line.includes('sy_live_'));
  });
});
