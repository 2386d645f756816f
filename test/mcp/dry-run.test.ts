import assert from 'node:assert/strict';
import { newKey, newOrganization, newProject } from '#test/e2e/support/tenants.ts';
import { mcpService } from './support/mcp-service.ts';

interface Tried {
  readonly dryRun: true;
  readonly events: ReadonlyArray<{
    readonly type: string;
    readonly summary: string;
    readonly changes: ReadonlyArray<{ readonly value?: unknown }> | null;
  }>;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members that it reads.
  readonly answer: any;
}

describe('trying a command with dryRun', function () {
  this.timeout(60_000);

  // A service of its own: the tests compare the ends of the whole log.
  const service = mcpService({});
  let projectId: string;
  let flowId: string;
  let versionId: string;

  before(async () => {
    projectId = await newProject(service.client, await newOrganization(service.client, true));
    const flow = await service.client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, {
      name: 'Kept',
      flowSchema: {},
    });
    flowId = flow.body.id;
    const version = await service.client.post<{ id: string }>(`/v1/flows/${flowId}/versions`, {
      flowSchema: { say: 1 },
    });
    versionId = version.body.id;
  });

  const position = async () => {
    const { headers } = await service.client.post(`/v1/projects`, { name: 'Marks the end of the log' });
    return Number(headers['switchyard-position']);
  };

  async function tries(method: 'post' | 'patch' | 'put', path: string, body?: object, headers = {}) {
    const before = await position();
    const reply = await service.client[method]<Tried>(path, body, headers);
    // Positions of a log in SQLite increase by one for each event, so the mark itself is the only new event.
    assert.equal(await position(), before + 1, `${path} appended something`);
    return reply;
  }

  it('answers a dry run of a creation with 200, its events and its answer, and creates nothing', async () => {
    const reply = await tries('post', `/v1/projects/${projectId}/flows?dryRun=true`, { name: 'Tried', flowSchema: {} });
    assert.equal(reply.status, 200);
    assert.deepEqual(
      reply.body.events.map(({ type }) => type),
      ['FlowCreated', 'FlowVersionCreated', 'FlowVersionActivated'],
    );
    assert.match(reply.body.events[0]?.summary ?? '', /created/);
    assert.match(JSON.stringify(reply.body.events[0]?.changes), /"name":"Tried"/);
    assert.equal(reply.body.answer.name, 'Tried');
    assert.equal((await service.client.get(`/v1/flows/${reply.body.answer.id}`)).status, 404);
    const { body } = await service.client.get<{ flows: unknown[] }>(`/v1/projects/${projectId}/flows`);
    assert.equal(body.flows.length, 1);
  });

  it('answers the events that a change would append, and changes nothing', async () => {
    const reply = await tries('post', `/v1/flow-versions/${versionId}/activate?dryRun=true`);
    assert.deepEqual(
      reply.body.events.map(({ type }) => type),
      ['FlowVersionActivated'],
    );
    assert.equal(reply.body.answer.isActive, true);
    const now = await service.client.get<{ isActive: boolean }>(`/v1/flow-versions/${versionId}`);
    assert.equal(now.body.isActive, false);
  });

  it('answers null for a deletion without content, and deletes nothing', async () => {
    const reply = await service.client.remove<Tried>(`/v1/flows/${flowId}?dryRun=true`);
    assert.equal(reply.status, 200);
    assert.equal(reply.body.answer, null);
    assert.deepEqual(
      reply.body.events.map(({ type }) => type),
      ['FlowDeleted'],
    );
    assert.equal((await service.client.get(`/v1/flows/${flowId}`)).status, 200);
  });

  it('checks input, If-Match and state', async () => {
    const path = `/v1/projects/${projectId}/flows?dryRun=true`;
    assert.equal((await tries('post', path, { name: '' })).status, 422);
    const stale = await tries('patch', `/v1/flows/${flowId}?dryRun=true`, { name: 'N' }, { 'If-Match': '"99"' });
    assert.equal(stale.status, 412);
    const missing = await tries('patch', '/v1/flows/cnothere12345?dryRun=true', { name: 'N' });
    assert.equal(missing.status, 404);
    const { key } = await newKey(service.client, projectId, 'project', ['flows:read']);
    const refused = await service.client.as(key).patch(`/v1/flows/${flowId}?dryRun=true`, { name: 'N' });
    assert.equal(refused.status, 403);
  });

  it('refuses a value of dryRun that is neither true nor false, and changes nothing', async () => {
    const reply = await tries('patch', `/v1/flows/${flowId}?dryRun=yes`, { name: 'N' });
    assert.equal(reply.status, 422);
    assert.match(reply.text, /dryRun/);
  });

  it('claims no phone number, and reports a number that is in use', async () => {
    const path = `/v1/projects/${projectId}/phone-numbers`;
    const number = { name: 'Desk', number: '+44 20 7183 8799' };
    assert.equal((await tries('post', `${path}?dryRun=true`, number)).body.events[0]?.type, 'PhoneNumberCreated');
    assert.equal((await service.client.post(path, number)).status, 201);
    assert.equal((await tries('post', `${path}?dryRun=true`, number)).status, 409);
  });

  it('creates no API key, and shows no secret', async () => {
    const reply = await tries('post', `/v1/projects/${projectId}/keys?dryRun=true`, { name: 'K', keyType: 'project' });
    assert.equal(reply.status, 200);
    assert.doesNotMatch(reply.text, /sy_live_[A-Za-z0-9]{20}|[0-9a-f]{64}/);
    assert.equal(reply.body.answer.key, undefined);
    const { body } = await service.client.get<{ keys: { id: string }[] }>(`/v1/projects/${projectId}/keys`);
    assert.ok(body.keys.every(({ id }) => id !== reply.body.answer.id));
  });

  it('stores no personal data of a customer in a dry run', async () => {
    const { key } = await newKey(service.client, projectId, 'partner');
    const partner = service.client.as(key);
    const customer = { name: 'Ada Byron', clientEmail: 'ada@example.com' };
    const reply = await partner.post<Tried>('/v1/partner/customers?dryRun=true', customer, {
      'Idempotency-Key': 'once',
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal((await partner.get<{ customers: unknown[] }>('/v1/partner/customers')).body.customers.length, 0);
    const real = await partner.post('/v1/partner/customers', customer, { 'Idempotency-Key': 'once' });
    assert.equal(real.status, 201);
    const again = await partner.post<Tried>('/v1/partner/customers?dryRun=true', customer, {
      'Idempotency-Key': 'once',
    });
    assert.deepEqual([again.status, again.body.events], [200, []]);
  });

  it('answers a repeated Idempotency-Key without an event, and remembers no key itself', async () => {
    const path = `/v1/projects/${projectId}/flows`;
    const flow = { name: 'Once', flowSchema: {} };
    const headers = { 'Idempotency-Key': 'flow-once' };
    const tried = await tries('post', `${path}?dryRun=true`, flow, headers);
    assert.ok(tried.body.events.length > 0);
    const other = await service.client.post<{ id: string }>(path, { ...flow, name: 'Other' }, headers);
    assert.equal(other.status, 201);
    const again = await tries('post', `${path}?dryRun=true`, { ...flow, name: 'Other' }, headers);
    assert.deepEqual([again.body.events, again.body.answer.id], [[], other.body.id]);
    assert.equal((await tries('post', `${path}?dryRun=true`, flow, headers)).status, 422);
  });

  it('stores no file of an upload in a dry run', async () => {
    const form = [
      '--B\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n',
      '--B\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{}\r\n--B--\r\n',
    ].join('');
    const reply = await service.client.send({
      method: 'POST',
      path: '/v1/files?dryRun=true',
      headers: { 'Content-Type': 'multipart/form-data; boundary=B' },
      body: form,
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal((reply.body as unknown as Tried).events[0]?.type, 'FileCreated');
    const { body } = await service.client.get<{ data: unknown[] }>('/v1/files');
    assert.deepEqual(body.data, []);
  });

  it('gives the same answers as a tool', async () => {
    const client = service.connect();
    await client.tools();
    const tried = await client.call('delete_flow', { flowId, dryRun: true });
    assert.equal(tried.isError ?? false, false, JSON.stringify(tried));
    assert.deepEqual([tried.structuredContent.dryRun, tried.structuredContent.answer], [true, null]);
    assert.match(tried.content[0]?.text ?? '', /^Tried: Delete a flow.* Nothing was changed\. It would: The flow/);
    assert.equal((await client.call('get_flow', { flowId })).isError ?? false, false);
    const wrong = await client.call('delete_flow', { flowId, dryRun: 'yes' });
    assert.match(wrong.content[0]?.text ?? '', /\/dryRun must be true or false/);
  });
});
