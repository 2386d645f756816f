import assert from 'node:assert/strict';
import type { LineOutcome, LineRequest } from '#application/batches/line-calls.ts';
import { defaultBodyByteLimits } from '#exchange/body-source.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { createLineCaller } from '#gateway/batch/line-caller.ts';
import { chatService, messages } from '#test/gateway/support/chat-service.ts';
import { completion, json } from '#test/gateway/support/fake-provider.ts';
import { usualLimits } from '#test/gateway/support/gateway-service.ts';
import { caller } from '#test/http/support/fake-service.ts';

const kibibyte = 1024;

describe('createLineCaller', () => {
  const setting = chatService({ primary: json(completion('x'.repeat(100 * kibibyte))), backup: json(completion('')) });
  let answers: ByteBudget;

  beforeEach(() => {
    answers = new ByteBudget({ maxBytesPerProject: 100 * kibibyte, maxBytes: 300 * kibibyte });
  });

  function call(): Promise<LineOutcome> {
    const { gateway } = setting.service;
    const bodies = new ByteBudget(defaultBodyByteLimits);
    return createLineCaller({ gateway, limits: usualLimits, bodies, answers }).call(
      { customId: 'line', body: Buffer.from(JSON.stringify({ model: 'large', messages })) },
      {
        ...{ endpoint: '/v1/chat/completions', batchId: 'batch_1', caller, idempotencyKey: 'k' },
        signal: new AbortController().signal,
      },
    );
  }

  describe('endpoints', () => {
    const line = (endpoint: LineRequest['endpoint'], body: object): Promise<LineOutcome> => {
      const { gateway } = setting.service;
      const budgets = { bodies: new ByteBudget(defaultBodyByteLimits), answers };
      const request = { batchId: 'batch_1', caller, idempotencyKey: 'k', signal: new AbortController().signal };
      const parsed = { customId: 'line', body: Buffer.from(JSON.stringify(body)) };
      return createLineCaller({ gateway, limits: usualLimits, ...budgets }).call(parsed, { ...request, endpoint });
    };
    const bodyOf = (outcome: LineOutcome) => (outcome.kind === 'answer' ? JSON.parse(outcome.body.toString()) : null);
    beforeEach(() => setting.primary.answers(json(completion('Hello'))));

    it('answers a line of Responses, which is not stored', async () => {
      const response = bodyOf(await line('/v1/responses', { model: 'large', input: 'hi' }));
      assert.deepEqual([response.status, response.store], ['completed', false]);
      const { responses } = setting.service.gateway;
      assert.equal(await responses.turns.find(caller.projectId, response.id), null);
      const stored = await responses.add({
        projectId: caller.projectId,
        id: 'resp_1',
        inputText: '"before"',
        responseText: '{"id":"resp_1","output":[]}',
        provider: null,
        previous: null,
        referenced: [],
        names: [],
      });
      assert.ok(stored);
      await line('/v1/responses', { model: 'large', input: 'more', previous_response_id: 'resp_1' });
      const sent = JSON.parse(setting.primary.seen.at(-1)?.body.toString() ?? '{}');
      assert.match(JSON.stringify(sent.messages), /"before".*"more"/);
    });

    it('answers a line of Messages, and its errors in their form', async () => {
      const message = bodyOf(await line('/v1/messages', { model: 'large', max_tokens: 9, messages }));
      assert.deepEqual(message.content, [{ type: 'text', text: 'Hello' }]);
      const refused = await line('/v1/messages', { model: 'large' });
      assert.ok(refused.kind === 'answer' && refused.status === 400);
      assert.equal(bodyOf(refused).type, 'error');
    });

    it('answers a line of embeddings', async () => {
      setting.primary.answers(json({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] }));
      const answer = bodyOf(await line('/v1/embeddings', { model: 'large', input: 'hi' }));
      assert.deepEqual(answer.data[0].embedding, [1]);
    });
  });

  it('counts the bytes of an answer until it is not needed any more', async () => {
    const outcome = await call();
    assert.ok(outcome.kind === 'answer' && outcome.status === 200);
    assert.equal(answers.bytes, outcome.body.length);
    outcome.release();
    assert.deepEqual([answers.bytes, answers.projects], [0, 0]);
  });

  it('sends a line later while the answers of its project take the limit', async () => {
    answers.hold(caller.projectId).resize(100 * kibibyte);
    assert.equal((await call()).kind, 'later');
    assert.deepEqual(setting.primary.seen, []);
  });

  it('sends a line later whose answer finds no room on the node', async () => {
    answers.hold('another').resize(250 * kibibyte);
    assert.equal((await call()).kind, 'later');
    assert.equal(answers.bytes, 250 * kibibyte);
  });
});
