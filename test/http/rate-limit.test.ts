import assert from 'node:assert/strict';
import { readConfig } from '../../src/config.ts';
import { caller, type FakeService, goodKey, startFakeService, widgetId } from './fake-service.ts';

describe('rate limit', () => {
  let service: FakeService;

  afterEach(() => service.stop());

  const get = (key = goodKey) =>
    fetch(`${service.url}/v1/widgets/${widgetId}`, { headers: { authorization: `Bearer ${key}` } });

  it('is off by default: no header tells of one', async () => {
    service = await startFakeService();
    const answer = await get();
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('ratelimit'), null);
    assert.equal(readConfig({}).limits.requestsPerMinute, null);
  });

  it('tells each key how many requests are left, and refuses the next one with 429 and Retry-After', async () => {
    const second = `sy_live_${'b'.repeat(40)}`;
    service = await startFakeService({
      authenticate: async (key) => ({ ...caller, keyId: key === goodKey ? 'cfirst0000' : 'csecond000' }),
      limits: { maxBodyBytes: 4_096, requestsPerMinute: 2 },
    });
    const answers = [await get(), await get()];
    const refused = await get();
    answers.push(refused);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 429],
    );
    for (const [index, { headers }] of answers.entries()) {
      assert.equal(headers.get('ratelimit-policy'), '"key";q=2;w=60');
      assert.match(headers.get('ratelimit') ?? '', new RegExp(`^"key";r=${Math.max(0, 1 - index)};t=\\d+$`));
    }
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    assert.equal(((await refused.json()) as { code: string }).code, 'rate-limited');
    assert.equal((await get(second)).status, 200, 'another key has a count of its own');
  });

  it('counts requests to paths that are not there, too', async () => {
    service = await startFakeService({ limits: { maxBodyBytes: 4_096, requestsPerMinute: 1 } });
    const nowhere = () => fetch(`${service.url}/v1/nowhere`, { headers: { 'x-api-key': goodKey } });
    assert.deepEqual([(await nowhere()).status, (await nowhere()).status], [404, 429]);
  });
});
