import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createCustomer } from '#commands/customer/create-customer.ts';
import { erasePersonalData } from '#commands/customer/erase-personal-data.ts';
import { createStore } from '#commands/store/create-store.ts';
import { verifyChain } from '#event-store/hash-chain.ts';
import { createCustomerProjects } from '#processes/create-customer-projects.ts';
import { destroySubjectKeys } from '#processes/side-effects.ts';
import type { CustomerDocument } from '#projections/access/customers.ts';
import type { ProjectDocument } from '#projections/access/projects.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { interruptAtEachAppend, ProcessDriver } from '#test/support/harness/process-harness.ts';
import { seedProjects } from '#test/support/harness/seed.ts';

const body = { name: 'Harbour Dental', clientEmail: 'office@harbour-dental.example' };
const once = { body, idempotencyKey: 'customer-1' };

async function startService(): Promise<Service> {
  const service = new Service();
  await seedProjects(service.store);
  return service;
}

const create = async (service: Service, sent: object = { body }) =>
  String((await service.ok(createCustomer, {}, sent)).body.organizationId);
const erase = (service: Service, organizationId: string, sent = {}) =>
  service.ok(erasePersonalData, { organizationId }, sent);

async function record(service: Service, id: string): Promise<CustomerDocument['record'] | undefined> {
  return (await service.documents.get<CustomerDocument>('customers', id))?.value.record;
}

/** Returns name and address as a query shows them. */
async function shown(service: Service, id: string): Promise<ReadonlyArray<string>> {
  const customer = await record(service, id);
  assert.ok(customer !== undefined);
  const read = await service.personalData.readerOf([id]);
  return [read(id, 'name', customer.name), read(id, 'clientEmail', customer.clientEmail)];
}

describe('commands with personal data', () => {
  it('stores personal data only sealed, and can read it', async () => {
    const service = await startService();
    const id = await create(service, once);
    const stored = JSON.stringify([service.store.raw, await record(service, id)]);
    assert.doesNotMatch(stored, /Harbour|harbour/);
    assert.deepEqual(await shown(service, id), [body.name, body.clientEmail]);
  });

  it('stores no unkeyed hash of a body with personal data', async () => {
    const service = await startService();
    await create(service, once);
    await service.ok(createStore, {}, { body, idempotencyKey: 'store-1' });
    const [customer, store] = service.store.log.slice(-2).map(({ metadata }) => metadata.idempotency?.body);
    const plain = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    assert.equal(store, plain);
    assert.match(customer ?? '', /^[0-9a-f]{64}$/);
    assert.notEqual(customer, plain);
  });

  it('creates a customer once for an Idempotency-Key and refuses another body, even after a restart', async () => {
    const service = await startService();
    const id = await create(service, once);
    for (const again of [service, service.restarted()]) {
      assert.equal(await create(again, once), id);
      const other = { ...once, body: { ...body, name: 'Harbour Dentists' } };
      assert.equal(await again.refusal(createCustomer, {}, other), 'idempotency-key-reused');
    }
    assert.equal(service.subjectKeys.secrets.size, 1);
  });

  it('creates a customer once when two nodes get the same request at the same time', async () => {
    const service = await startService();
    const [one, other] = await Promise.all([create(service, once), create(service.restarted(), once)]);
    assert.equal(one, other);
    assert.deepEqual(await shown(service, one), [body.name, body.clientEmail]);
  });

  it('erases key, documents and state of a customer, and keeps the hash chain valid', async () => {
    const service = await startService();
    const [id, kept] = [await create(service, once), await create(service)];
    const answer = await erase(service, id);
    const { name, clientEmail, personalDataErasedAt, updatedAt } = answer.body;
    assert.deepEqual([answer.status, name, clientEmail], [200, 'erased', 'erased']);
    assert.equal(personalDataErasedAt, updatedAt);
    assert.equal(service.subjectKeys.secrets.get(id), null);
    assert.doesNotMatch(JSON.stringify(await record(service, id)), /ciphertext/);
    assert.deepEqual(await shown(service, kept), [body.name, body.clientEmail]);
    assert.equal(verifyChain(service.store.raw.filter(({ stream }) => stream.endsWith(id))), null);
    const again = await erase(service.restarted(), id);
    assert.deepEqual([again.body, again.revision], [answer.body, answer.revision]);
  });

  it('refuses to create an erased customer again for the same Idempotency-Key', async () => {
    const service = await startService();
    const id = await create(service, once);
    await erase(service, id);
    for (const sent of [once, { ...once, body: { ...body, name: 'Harbour Dentists' } }]) {
      assert.equal(await service.refusal(createCustomer, {}, sent), 'idempotency-key-erased');
    }
    assert.equal(service.subjectKeys.secrets.get(id), null);
  });

  it('refuses to create a customer again whose key was lost, and makes no second key', async () => {
    const service = await startService();
    const id = await create(service, once);
    const next = new Service(service.store);
    for (const sent of [once, { ...once, body: { ...body, name: 'Harbour Dentists' } }]) {
      assert.equal(await next.refusal(createCustomer, {}, sent), 'idempotency-key-erased');
      assert.equal(await next.refusal(createCustomer, {}, { ...sent, dryRun: true }), 'idempotency-key-erased');
    }
    assert.equal(next.subjectKeys.secrets.size, 0);
    assert.deepEqual(await shown(next, id), ['erased', 'erased']);
  });

  it('makes no key for a request that is refused or only tried', async () => {
    const service = await startService();
    const stranger = callerOf('partner', { organizationId: ids.stranger, partnerId: ids.stranger });
    const refused = { ...once, caller: stranger };
    assert.equal(await service.refusal(createCustomer, {}, refused), 'organization-not-partner');
    await service.ok(createCustomer, {}, { ...once, dryRun: true });
    assert.equal(service.subjectKeys.secrets.size, 0);
  });

  it('does not answer an erasure before the subject’s key is destroyed', async () => {
    const service = await startService();
    const id = await create(service);
    const destroy = service.subjectKeys.destroy.bind(service.subjectKeys);
    service.subjectKeys.destroy = () => Promise.reject(new UnavailableError('The disk is full.'));
    await assert.rejects(erase(service, id, { idempotencyKey: 'erase-1' }), UnavailableError);
    assert.equal(service.store.log.at(-1)?.type, 'PersonalDataErased');
    await assert.rejects(erase(service, id, { idempotencyKey: 'erase-1' }), UnavailableError);
    service.subjectKeys.destroy = destroy;
    await erase(service, id, { idempotencyKey: 'erase-1' });
    assert.equal(service.subjectKeys.secrets.get(id), null);
  });

  it('refuses an erasure with 404 for another partner’s customer and for an organization that is not a customer', async () => {
    const service = await startService();
    const organizationId = await create(service);
    const stranger = callerOf('partner', { organizationId: ids.stranger, partnerId: ids.stranger });
    const path = { organizationId };
    assert.equal(await service.refusal(erasePersonalData, path, { caller: stranger }), 'customer-not-found');
    const noCustomer = { organizationId: ids.partner };
    assert.equal(await service.refusal(erasePersonalData, noCustomer), 'customer-not-found');
  });
});

describe('destroySubjectKeys', () => {
  it('destroys the key of an erasure that an ended node had only recorded', async () => {
    const service = await startService();
    const id = await create(service);
    service.subjectKeys.destroy = () => Promise.reject(new UnavailableError('It ends here.'));
    await assert.rejects(erase(service, id), UnavailableError);
    const next = new Service(service.store);
    next.subjectKeys.secrets.set(id, new Uint8Array(32).fill(1));
    await new ProcessDriver(destroySubjectKeys(next.personalData), next).settle();
    assert.equal(next.subjectKeys.secrets.get(id), null);
  });
});

describe('createCustomerProjects', () => {
  it('creates the announced project of a customer, for the customer and its partner', async () => {
    const service = await startService();
    const id = await create(service);
    await new ProcessDriver(createCustomerProjects, service).settle();
    const projectId = (await record(service, id))?.projectId ?? '';
    const project = (await service.documents.get<ProjectDocument>('projects', projectId))?.value;
    assert.deepEqual([project?.organizationId, project?.partnerId], [id, ids.partner]);
    assert.equal(project?.record.organizationId, id);
    assert.doesNotMatch(project?.record.name ?? '', /Harbour/);
  });

  it('creates the same projects wherever the process ends and starts again', async () => {
    const story = async () => {
      const service = await startService();
      for (const number of ['one', 'two', 'three']) await create(service, { body, idempotencyKey: number });
      return service;
    };
    const outcome = async (service: Service) =>
      service.store.log.filter(({ type }) => type === 'ProjectCreated').map(({ data }) => data);
    await interruptAtEachAppend(createCustomerProjects, story, outcome, assert.deepEqual);
  });
});
