import assert from 'node:assert/strict';
import type { LineOutcome } from '#application/batches/line-calls.ts';
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
