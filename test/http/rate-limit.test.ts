import assert from 'node:assert/strict';
import { readConfig } from '#app/config.ts';
import type { Caller } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import { RateLimit } from '#exchange/rate-limit.ts';
import { caller, type FakeService, goodKey, startFakeService, widgetId } from './support/fake-service.ts';

/** The key of a project that belongs to a partner's customer. */
const customer: Caller = {
  ...caller,
  keyType: 'project',
  projectId: 'cproject01',
  organizationId: 'ccustomer1',
  partnerId: 'cpartner01',
};

const limitedTo = (perMinute: number) => new Admission({ limits: { requests: { perMinute } } });

describe('rate limit of requests', () => {
  let service: FakeService;

  afterEach(() => service.stop());

  const get = (key = goodKey) =>
    fetch(`${service.url}/v1/widgets/${widgetId}`, { headers: { authorization: `Bearer ${key}` } });

  it('limits no requests and sends no rate limit headers by default', async () => {
    service = await startFakeService();
    const answer = await get();
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('ratelimit'), null);
    const { requestsPerMinute, limitFactors } = readConfig({}).limits;
    assert.equal(requestsPerMinute, null);
    assert.deepEqual(limitFactors, { organization: 10, partner: 10 });
  });

  it('sends how many requests a project has left, and refuses the next of any of its keys with 429', async () => {
    const second = `sy_live_${'b'.repeat(40)}`;
    const other = `sy_live_${'c'.repeat(40)}`;
    service = await startFakeService({
      authenticate: async (key) => ({
        ...customer,
        keyId: key === goodKey ? 'cfirst0000' : 'csecond000',
        projectId: key === other ? 'cproject02' : 'cproject01',
      }),
      admission: limitedTo(2),
    });
    const answers = [await get(), await get(second)];
    const refused = await get(second);
    answers.push(refused, await get());
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 429, 429],
    );
    for (const [index, { headers }] of answers.entries()) {
      assert.equal(headers.get('ratelimit-policy'), '"project";q=2;w=60');
      assert.match(headers.get('ratelimit') ?? '', new RegExp(`^"project";r=${Math.max(0, 1 - index)};t=\\d+$`));
    }
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    assert.equal(((await refused.json()) as { code: string }).code, 'rate-limited');
    assert.equal((await get(other)).status, 200, 'another project has a count of its own');
  });

  it('counts requests to unknown paths too', async () => {
    service = await startFakeService({ admission: limitedTo(1) });
    const getUnknownPath = () => fetch(`${service.url}/v1/nowhere`, { headers: { 'x-api-key': goodKey } });
    assert.deepEqual([(await getUnknownPath()).status, (await getUnknownPath()).status], [404, 429]);
  });

  it('does not limit admin keys', async () => {
    service = await startFakeService({
      authenticate: async () => ({ ...caller, keyType: 'admin' }),
      admission: limitedTo(1),
    });
    const answers = [await get(), await get()];
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('ratelimit')]),
      [
        [200, null],
        [200, null],
      ],
    );
  });
});

describe('RateLimit', () => {
  const policyOf = (fields: ReadonlyArray<string>) => fields[1];

  /** Sends requests, each of a new project. @returns the codes and policies of the refused ones */
  async function refusalsOfProjects(limit: RateLimit, organizationId: string, projects: number) {
    const refused = [];
    for (let index = 0; index < projects; index += 1) {
      const taken = await limit.take({ ...customer, organizationId, projectId: `c${organizationId}${index}` });
      if (taken.refusal !== null) refused.push([taken.refusal.code, policyOf(taken.headers)]);
    }
    return refused;
  }

  it('allows an organization ten times a project’s requests, however many projects it has', async () => {
    const limit = new RateLimit(2, { organization: 10, partner: 100 });
    assert.deepEqual(await refusalsOfProjects(limit, 'corg1', 20), []);
    assert.deepEqual(await refusalsOfProjects(limit, 'corg1', 1), [['rate-limited', '"organization";q=20;w=60']]);
  });

  it('allows a partner a multiple of a project’s requests, however many customers it has', async () => {
    const limit = new RateLimit(2, { organization: 10, partner: 3 });
    assert.deepEqual(await refusalsOfProjects(limit, 'corg1', 3), []);
    assert.deepEqual(await refusalsOfProjects(limit, 'corg2', 4), [['rate-limited', '"partner";q=6;w=60']]);
  });

  it('does not count a refused request against organization or partner', async () => {
    const limit = new RateLimit(1, { organization: 2, partner: 2 });
    assert.equal((await limit.take(customer)).refusal, null);
    for (let time = 0; time < 5; time += 1) {
      const { refusal, headers } = await limit.take(customer);
      assert.equal(refusal?.code, 'rate-limited');
      assert.equal(policyOf(headers), '"project";q=1;w=60');
    }
    assert.equal((await limit.take({ ...customer, projectId: 'cproject02' })).refusal, null);
  });

  it('reports the limit with the fewest requests left', async () => {
    const limit = new RateLimit(10, { organization: 1, partner: 2 });
    await limit.take(customer);
    const { headers } = await limit.take({ ...customer, projectId: 'cproject02' });
    assert.equal(policyOf(headers), '"organization";q=10;w=60');
    assert.match(headers[3] ?? '', /^"organization";r=8;t=\d+$/);
  });
});
