import assert from 'node:assert/strict';
import { characters, cuidPattern, expectProblem, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import { type KeyType, newHolder, newOrganization, newProject } from '#test/e2e/support/tenants.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';

type Named = { readonly id: string; readonly name: string; readonly organizationId: string };
interface Customer {
  readonly organizationId: string;
  readonly projectId: string;
  readonly name: string;
  readonly clientEmail: string;
  readonly personalDataErasedAt: string | null;
}

const path = '/v1/partner/customers';
const sound = { name: 'Harbour Dental', clientEmail: 'office@harbour-dental.example' };

describeOnEngines('partner customers over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  let admin: Client;

  before(() => {
    admin = running.client;
  });

  /** Returns a client with a key of this type in a new organization. */
  const holder = async (keyType: KeyType, partner: boolean, scopes?: ReadonlyArray<string>) =>
    newHolder(admin, await newProject(admin, await newOrganization(admin, partner)), keyType, scopes);
  const create = async (client: Client, body: object = sound) =>
    expectStatus(await client.post<{ organizationId: string }>(path, body), 201).organizationId;
  const read = async (client: Client, id: string) => expectStatus(await client.get<Customer>(`${path}/${id}`), 200);
  const list = async (client: Client, query = '') =>
    expectStatus(await client.get<{ customers: Customer[]; nextCursor?: string }>(path + query), 200);

  it('creates a customer with a project that exists when the request is answered', async () => {
    const client = await holder('partner', true);
    const created = await client.post<{ organizationId: string }>(path, { ...sound, name: characters(200), other: 1 });
    const { organizationId, ...others } = expectStatus(created, 201);
    assert.match(organizationId, cuidPattern);
    assert.equal(created.headers.location, `${path}/${organizationId}`);
    const reply = await client.get<Customer>(`${path}/${organizationId}`);
    const customer = expectStatus(reply, 200);
    assert.equal(reply.headers.etag, created.headers.etag);
    const { projectId, createdAt, updatedAt, ...record } = customer as Customer & Record<string, unknown>;
    assert.deepEqual(record, {
      organizationId,
      name: characters(200),
      clientEmail: sound.clientEmail,
      personalDataErasedAt: null,
    });
    assert.equal(createdAt, updatedAt);
    assert.deepEqual(others, { projectId, createdAt });
    const project = expectStatus(await client.get<Named>(`/v1/projects/${projectId}`), 200);
    assert.equal(project.organizationId, organizationId);
    const { projects } = expectStatus(await client.get<{ projects: Named[] }>('/v1/projects'), 200);
    assert.ok(projects.some(({ id }) => id === projectId));
    assert.deepEqual((await list(client)).customers, [customer]);
  });

  it('refuses invalid input without repeating it in the answer', async () => {
    const client = await holder('partner', true);
    const refused = async (body: object, ...pointers: string[]) => {
      const reply = await client.post(path, body);
      expectProblem(reply, 422, 'invalid-input', pointers);
      for (const text of Object.values(body)) assert.ok(text === '' || !reply.text.includes(String(text)));
    };
    await refused({}, '/name', '/clientEmail');
    await refused({ ...sound, name: '' }, '/name');
    await refused({ ...sound, name: characters(201) }, '/name');
    await refused({ ...sound, clientEmail: 'office at harbour' }, '/clientEmail');
    await refused({ name: 'Harbour Dental', clientEmail: `${'o'.repeat(250)}@x.example` }, '/clientEmail');
    for (const id of [unknownId, 'x']) {
      expectProblem(await client.get(`${path}/${id}`), 404, 'customer-not-found');
      expectProblem(await client.remove(`${path}/${id}/personal-data`), 404, 'customer-not-found');
    }
    expectProblem(await admin.post(path, { ...sound, name: 1 }), 422, 'invalid-input', ['/name']);
    const homeless = await holder('admin', false);
    expectProblem(await homeless.post(path, sound), 409, 'organization-not-partner');
  });

  it('answers a repeated Idempotency-Key with the first answer', async () => {
    const client = await holder('partner', true);
    const once = { 'idempotency-key': 'one-customer' };
    const first = await client.post(path, sound, once);
    const again = await client.post(path, sound, once);
    assert.deepEqual([again.status, again.body, again.headers.etag], [201, first.body, first.headers.etag]);
    expectProblem(await client.post(path, { ...sound, name: 'Other' }, once), 422, 'idempotency-key-reused');
    assert.equal((await list(client)).customers.length, 1);
  });

  it('lists customers by page, and accepts equal names and addresses', async () => {
    const client = await holder('partner', true);
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) made.push(await create(client));
    const listed: string[] = [];
    for (let query = '?limit=2', next: string | undefined; ; query = `?limit=2&cursor=${next}`) {
      const page = await list(client, query);
      listed.push(...page.customers.map(({ organizationId }) => organizationId));
      for (const { name, clientEmail } of page.customers) assert.deepEqual({ name, clientEmail }, sound);
      next = page.nextCursor;
      if (next === undefined) break;
    }
    assert.deepEqual(listed, made);
    expectProblem(await client.get(`${path}?limit=0`), 422, 'invalid-input', ['/limit']);
  });

  it('gives access to customers only to their partner and the operator', async () => {
    const [client, other] = [await holder('partner', true), await holder('partner', true)];
    const id = await create(client);
    const { projectId } = await read(client, id);
    for (const reply of [
      await other.get(`${path}/${id}`),
      await other.remove(`${path}/${id}/personal-data`),
      await other.get(`/v1/projects/${projectId}`),
      await other.post(`/v1/projects/${projectId}/flows`, { name: 'F', flowSchema: 1 }),
    ]) {
      assert.equal(reply.status, 404, reply.text);
    }
    assert.deepEqual((await list(other)).customers, []);
    const all = (await list(admin)).customers.map(({ organizationId }) => organizationId);
    assert.ok(all.includes(id));
    assert.deepEqual(await read(admin, id), await read(client, id));
    // The operator creates customers of its own organization, which is a partner.
    const own = await create(admin);
    assert.ok(!(await list(client)).customers.some(({ organizationId }) => organizationId === own));
  });

  it('lets a partner manage the projects, flows and keys of its customers', async () => {
    const client = await holder('partner', true);
    const id = await create(client);
    const { projectId } = await read(client, id);
    expectStatus(await client.post(`/v1/projects/${projectId}/flows`, { name: 'F', flowSchema: 1 }), 201);
    const more = await client.post<Named>('/v1/projects', { name: 'Second', organizationId: id });
    assert.equal(expectStatus(more, 201).organizationId, id);
    const customer = await newHolder(client, projectId, 'organization');
    assert.equal(expectStatus(await customer.get('/v1/me'), 200).organizationId, id);
    const { projects } = expectStatus(await customer.get<{ projects: Named[] }>('/v1/projects'), 200);
    assert.deepEqual(projects.map((project) => project.id).sort(), [projectId, more.body.id].sort());
    // The customer can access its own record, but its key type may not read it.
    expectProblem(await customer.get(`${path}/${id}`), 403, 'key-type-not-allowed');
    expectProblem(await customer.get(path), 403, 'key-type-not-allowed');
    expectProblem(await customer.post(path, sound), 403, 'key-type-not-allowed');
    expectProblem(await customer.remove(`${path}/${id}/personal-data`), 403, 'key-type-not-allowed');
    const partnerKey = { name: 'K', keyType: 'partner' };
    const refused = await client.post(`/v1/projects/${projectId}/keys`, partnerKey);
    expectProblem(refused, 409, 'organization-not-partner');
  });

  it('requires the scopes of customers', async () => {
    const reader = await holder('partner', true, ['customers:read']);
    expectProblem(await reader.post(path, {}), 403, 'scope-required');
    expectStatus(await reader.get(path), 200);
    const writer = await holder('partner', true, ['customers:write']);
    const id = await create(writer);
    expectProblem(await writer.get(path), 403, 'scope-required');
    expectProblem(await writer.get(`${path}/${id}`), 403, 'scope-required');
    expectStatus(await writer.remove(`${path}/${id}/personal-data`), 200);
  });

  it('erases a customer’s personal data everywhere and for ever', async () => {
    const client = await holder('partner', true);
    const [id, kept] = [await create(client), await create(client)];
    const erasure = `${path}/${id}/personal-data`;
    const organizationName = async (organizationId: string) => {
      const reply = await admin.get<{ organizations: Named[] }>('/v1/organizations');
      return expectStatus(reply, 200).organizations.find((one) => one.id === organizationId)?.name;
    };
    assert.equal(await organizationName(id), sound.name);
    const before = await client.get<Customer>(`${path}/${id}`);
    expectProblem(await client.remove(erasure, { 'if-match': '"9"' }), 412, 'precondition-failed');
    const erased = await client.remove<Customer>(erasure, { 'if-match': before.headers.etag ?? '' });
    const { personalDataErasedAt, updatedAt, ...rest } = expectStatus(erased, 200) as Customer & { updatedAt: string };
    assert.ok(personalDataErasedAt !== null && personalDataErasedAt === updatedAt);
    const { personalDataErasedAt: _, updatedAt: __, ...unchanged } = before.body as Customer & { updatedAt: string };
    assert.deepEqual(rest, { ...unchanged, name: 'erased', clientEmail: 'erased' });
    assert.deepEqual(await read(client, id), erased.body);
    const listed = (await list(client)).customers;
    assert.deepEqual(listed, [erased.body, await read(client, kept)]);
    assert.equal(listed[1]?.name, sound.name);
    assert.deepEqual([await organizationName(id), await organizationName(kept)], ['erased', sound.name]);
    const again = await client.remove(erasure);
    assert.deepEqual([expectStatus(again, 200), again.headers.etag], [erased.body, erased.headers.etag]);
    // The customer's resources are kept.
    expectStatus(await client.post(`/v1/projects/${rest.projectId}/flows`, { name: 'F', flowSchema: 1 }), 201);
  });
});
