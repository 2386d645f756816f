import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createCustomer } from '#commands/customer/create-customer.ts';
import { erasePersonalData } from '#commands/customer/erase-personal-data.ts';
import { createStore } from '#commands/store/create-store.ts';
import { verifyChain } from '#event-store/hash-chain.ts';
import { createCustomerProjects } from '#processes/create-customer-projects.ts';
import { destroySubjectKeys } from '#processes/destroy-subject-keys.ts';
import type { CustomerDocument } from '#projections/customers.ts';
import type { ProjectDocument } from '#projections/projects.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { endedEverywhere, ProcessDrive } from '#test/support/harness/process-harness.ts';
import { seedProjects } from '#test/support/harness/seed.ts';

const body = { name: 'Harbour Dental', clientEmail: 'office@harbour-dental.example' };
const once = { body, idempotencyKey: 'customer-1' };

async function begun(): Promise<Service> {
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

/** Name and address, as a query shows them. */
async function shown(service: Service, id: string): Promise<ReadonlyArray<string>> {
  const customer = await record(service, id);
  assert.ok(customer !== undefined);
  const read = await service.personalData.readerOf([id]);
  return [read(id, 'name', customer.name), read(id, 'clientEmail', customer.clientEmail)];
}

describe('personal data of commands', () => {
  it('is stored sealed and nowhere else, and can be read', async () => {
    const service = await begun();
    const id = await create(service, once);
    const stored = JSON.stringify([service.store.raw, await record(service, id)]);
    assert.doesNotMatch(stored, /Harbour|harbour/);
    assert.deepEqual(await shown(service, id), [body.name, body.clientEmail]);
  });

  it('leaves no hash that it could be found by', async () => {
    const service = await begun();
    await create(service, once);
    await service.ok(createStore, {}, { body, idempotencyKey: 'store-1' });
    const [customer, store] = service.store.log.slice(-2).map(({ metadata }) => metadata.idempotency?.body);
    const plain = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    assert.equal(store, plain);
    assert.match(customer ?? '', /^[0-9a-f]{64}$/);
    assert.notEqual(customer, plain);
  });

  it('is created once for an Idempotency-Key, and refused with another body, over a restart too', async () => {
    const service = await begun();
    const id = await create(service, once);
    for (const again of [service, service.restarted()]) {
      assert.equal(await create(again, once), id);
      const other = { ...once, body: { ...body, name: 'Harbour Dentists' } };
      assert.equal(await again.refusal(createCustomer, {}, other), 'idempotency-key-reused');
    }
    assert.equal(service.subjectKeys.secrets.size, 1);
  });

  it('is created once when two nodes are asked at the same time', async () => {
    const service = await begun();
    const [one, other] = await Promise.all([create(service, once), create(service.restarted(), once)]);
    assert.equal(one, other);
    assert.deepEqual(await shown(service, one), [body.name, body.clientEmail]);
  });

  it('is erased for good: key, documents and state; the chain still holds', async () => {
    const service = await begun();
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

  it('once erased is not made anew by the Idempotency-Key that it came with', async () => {
    const service = await begun();
    const id = await create(service, once);
    await erase(service, id);
    for (const sent of [once, { ...once, body: { ...body, name: 'Harbour Dentists' } }]) {
      assert.equal(await service.refusal(createCustomer, {}, sent), 'idempotency-key-erased');
    }
    assert.equal(service.subjectKeys.secrets.get(id), null);
  });

  it('is not answered as erased before its key is destroyed', async () => {
    const service = await begun();
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

  it('is found by nobody else', async () => {
    const service = await begun();
    const organizationId = await create(service);
    const stranger = callerOf('partner', { organizationId: ids.stranger, partnerId: ids.stranger });
    const path = { organizationId };
    assert.equal(await service.refusal(erasePersonalData, path, { caller: stranger }), 'customer-not-found');
    const noCustomer = { organizationId: ids.partner };
    assert.equal(await service.refusal(erasePersonalData, noCustomer), 'customer-not-found');
  });
});

describe('destroy-subject-keys', () => {
  it('erases what a node that ended had only recorded', async () => {
    const service = await begun();
    const id = await create(service);
    service.subjectKeys.destroy = () => Promise.reject(new UnavailableError('It ends here.'));
    await assert.rejects(erase(service, id), UnavailableError);
    const next = new Service(service.store);
    next.subjectKeys.secrets.set(id, new Uint8Array(32).fill(1));
    await new ProcessDrive(destroySubjectKeys(next.personalData), next).settle();
    assert.equal(next.subjectKeys.secrets.get(id), null);
  });
});

describe('create-customer-projects', () => {
  it('makes the project that the customer was promised, for the customer and its partner', async () => {
    const service = await begun();
    const id = await create(service);
    await new ProcessDrive(createCustomerProjects, service).settle();
    const projectId = (await record(service, id))?.projectId ?? '';
    const project = (await service.documents.get<ProjectDocument>('projects', projectId))?.value;
    assert.deepEqual([project?.organizationId, project?.partnerId], [id, ids.partner]);
    assert.equal(project?.record.organizationId, id);
    assert.doesNotMatch(project?.record.name ?? '', /Harbour/);
  });

  it('comes to the same wherever it ends and begins again', async () => {
    const story = async () => {
      const service = await begun();
      for (const number of ['one', 'two', 'three']) await create(service, { body, idempotencyKey: number });
      return service;
    };
    const outcome = async (service: Service) =>
      service.store.log.filter(({ type }) => type === 'ProjectCreated').map(({ data }) => data);
    await endedEverywhere(createCustomerProjects, story, outcome, assert.deepEqual);
  });
});
