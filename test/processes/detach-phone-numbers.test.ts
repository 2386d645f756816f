import assert from 'node:assert/strict';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { deletePhoneNumber } from '#commands/phone-number/delete-phone-number.ts';
import { setPhoneNumberFlow } from '#commands/phone-number/set-phone-number-flow.ts';
import { flow } from '#domain/flow/flow.ts';
import { streamName } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { detachPhoneNumbers } from '#processes/cascades.ts';
import type { PhoneNumberDocument } from '#projections/phone-numbers.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { interruptAtEachAppend, ProcessDriver } from '#test/support/harness/process-harness.ts';
import { seedProjects } from '#test/support/harness/seed.ts';

const path = { projectId: ids.project };
const flowBody = { name: 'Opening hours', flowSchema: {} };

async function startService(): Promise<Service> {
  const service = new Service();
  await seedProjects(service.store);
  return service;
}

const makeFlow = async (service: Service) =>
  String((await service.ok(createFlow, path, { body: flowBody, idempotencyKey: 'flow' })).body.id);
const makeNumber = async (service: Service, number: string, flowId: string | null) => {
  const sent = { body: { name: 'Line', number, flowId }, idempotencyKey: number };
  return String((await service.ok(createPhoneNumber, path, sent)).body.id);
};

/** Each phone number's flow, as the read model shows it. */
async function targets(service: Service): Promise<Record<string, string | null>> {
  const { documents } = await service.documents.list<PhoneNumberDocument>(
    'phone-numbers',
    {},
    { limit: 1e6, maxBytes: 1e9 },
  );
  return Object.fromEntries(documents.map(({ id, value }) => [id, value.flowId]));
}

const detachments = ({ store }: Service): ReadonlyArray<RecordedEvent> =>
  store.log.filter(({ type, data }) => type === 'PhoneNumberFlowSet' && data.reason === 'flow-deleted');

describe('detachPhoneNumbers', () => {
  it('detaches the phone numbers of a deleted flow, and no others', async () => {
    const service = await startService();
    const flowId = await makeFlow(service);
    const kept = String((await service.ok(createFlow, path, { body: flowBody })).body.id);
    const first = await makeNumber(service, 'one', flowId);
    const second = await makeNumber(service, 'two', null);
    await service.ok(setPhoneNumberFlow, { phoneNumberId: second }, { body: { flowId } });
    const other = await makeNumber(service, 'three', kept);
    await service.ok(deleteFlow, { flowId });
    await new ProcessDriver(detachPhoneNumbers, service).settle();
    assert.deepEqual(await targets(service), { [first]: null, [second]: null, [other]: kept });
  });

  it('records the reason of a detachment in the name of the actor who deleted the flow', async () => {
    const service = await startService();
    const flowId = await makeFlow(service);
    const id = await makeNumber(service, 'one', flowId);
    const driver = new ProcessDriver(detachPhoneNumbers, service);
    await driver.settle();
    await service.ok(deleteFlow, { flowId }, { caller: callerOf('organization') });
    const deletion = service.store.log.at(-1);
    await driver.settle();
    const [event] = detachments(service);
    assert.deepEqual(event?.data, { id, flowId: null, reason: 'flow-deleted' });
    assert.deepEqual(event?.metadata.actor, { keyId: callerOf('organization').keyId, keyType: 'organization' });
    assert.equal(event?.metadata.requestId, deletion?.metadata.requestId);
    assert.equal(event?.metadata.$causationId, deletion?.id);
    assert.equal(event?.metadata.$correlationId, deletion?.metadata.$correlationId);
  });

  it('appends nothing when it sees an event a second time', async () => {
    const service = await startService();
    const flowId = await makeFlow(service);
    await makeNumber(service, 'one', flowId);
    await service.ok(deleteFlow, { flowId });
    const driver = new ProcessDriver(detachPhoneNumbers, service);
    for (const event of [...service.store.log]) {
      await driver.handle(event);
      await driver.handle(event);
    }
    assert.equal(detachments(service).length, 1);
    const { length } = service.store.log;
    await new ProcessDriver(detachPhoneNumbers, service.restarted()).settle();
    assert.equal(service.store.log.length, length);
  });

  for (const [how, isFromBeginning] of [
    ['created', true],
    ['attached', true],
    ['created', false],
    ['attached', false],
  ] as const) {
    const where = isFromBeginning ? 'by what it has met' : 'by the flow';
    it(`detaches a number that was ${how} while its flow was being deleted, as it sees ${where}`, async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const phoneNumberId = how === 'attached' ? await makeNumber(service, 'one', null) : '';
      // The flow is deleted after the decision on the number has seen it, before the number's event is stored.
      service.store.beforeAppend = async ({ stream }) => {
        if (!stream.startsWith('phoneNumber-')) return null;
        service.store.beforeAppend = async () => null;
        await service.ok(deleteFlow, { flowId });
        await driver.settle();
        return null;
      };
      const driver = new ProcessDriver(detachPhoneNumbers, service, 0, isFromBeginning);
      if (how === 'created') await makeNumber(service, 'one', flowId);
      else await service.ok(setPhoneNumberFlow, { phoneNumberId }, { body: { flowId } });
      assert.deepEqual(Object.values(await targets(service)), [flowId]);
      await driver.settle();
      assert.deepEqual(Object.values(await targets(service)), [null]);
    });
  }

  it('reads no stream of a flow while it follows the log from its beginning', async () => {
    const service = await startService();
    const flowId = await makeFlow(service);
    await makeNumber(service, 'one', flowId);
    const reads: string[] = [];
    const read = service.store.read.bind(service.store);
    service.store.read = (stream, ...rest) => {
      reads.push(stream);
      return read(stream, ...rest);
    };
    await new ProcessDriver(detachPhoneNumbers, service).settle();
    assert.deepEqual(reads, []);
    await new ProcessDriver(detachPhoneNumbers, service.restarted(), 0, false).settle();
    assert.deepEqual(reads, [streamName(flow, flowId)]);
  });

  it('leaves a number unchanged that has another flow by then or is deleted', async () => {
    const service = await startService();
    const flowId = await makeFlow(service);
    const kept = String((await service.ok(createFlow, path, { body: flowBody })).body.id);
    const moved = await makeNumber(service, 'one', flowId);
    const gone = await makeNumber(service, 'two', flowId);
    await service.ok(deleteFlow, { flowId });
    await service.ok(setPhoneNumberFlow, { phoneNumberId: moved }, { body: { flowId: kept } });
    await service.ok(deletePhoneNumber, { phoneNumberId: gone });
    await new ProcessDriver(detachPhoneNumbers, service).settle();
    assert.deepEqual(await targets(service), { [moved]: kept });
    assert.equal(detachments(service).length, 0);
  });

  it('gives the same result wherever it ends and starts again', async () => {
    const story = async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      for (const number of ['one', 'two', 'three']) await makeNumber(service, number, flowId);
      await service.ok(deleteFlow, { flowId });
      return service;
    };
    const outcome = async (service: Service) => [await targets(service), detachments(service).length];
    await interruptAtEachAppend(detachPhoneNumbers, story, outcome, assert.deepEqual);
  });
});
