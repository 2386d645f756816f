import assert from 'node:assert/strict';
import { queryObjects } from 'node:v8';
import { Attempt } from '#gateway/attempt/attempt.ts';
import type { RequestActivity } from '#shared/memory/memory-after-load.ts';
import { type GatewayService, post, startGateway } from './support/gateway-service.ts';

const kibibyte = 1_024;
const configuration = {
  providers: { p: { kind: 'sandbox' } },
  models: { m: { targets: [{ provider: 'p', model: 'x' }] } },
};

describe('The objects of the last call', () => {
  let activity: RequestActivity;
  let service: GatewayService;

  beforeEach(async () => {
    activity = { open: 0, lastAnswerAt: null, last: null };
    service = await startGateway(configuration, { activity });
  });
  afterEach(() => service.stop());

  async function chat(text: string): Promise<void> {
    const body = { model: 'm', messages: [{ role: 'user', content: text }] };
    const { status } = await post(service, '/v1/chat/completions', body);
    assert.equal(status, 200);
  }

  /** Collects garbage, which takes long in a process with many objects, and counts the attempts that live. */
  const attempts = () => queryObjects(Attempt, { format: 'count' });

  it('live until the next call has ended, so that V8 keeps the code that it has optimized for them', async function () {
    this.timeout(60_000);
    const before = attempts();
    await chat('hello');
    await chat('hello');
    assert.equal(attempts(), before + 1);
    activity.last = null;
    assert.equal(attempts(), before);
  });

  it('do not live as long as the connection that it came on', async function () {
    this.timeout(60_000);
    const before = attempts();
    // Both at once, so that each has its own connection, which is kept.
    await Promise.all([chat('hello'), chat('hello')]);
    activity.last = null;
    assert.equal(attempts(), before);
  });

  it('do not live after a large call, whose bytes would fill the memory', async () => {
    await chat('hello');
    const { last } = activity;
    await chat('x'.repeat(300 * kibibyte));
    assert.equal(activity.last, last);
  });
});
