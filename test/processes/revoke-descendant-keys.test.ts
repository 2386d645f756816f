import assert from 'node:assert/strict';
import { createApiKey } from '#commands/api-key/create-api-key.ts';
import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { rotateApiKey } from '#commands/api-key/rotate-api-key.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { revokeDescendantKeys } from '#processes/cascades.ts';
import { ids } from '#test/support/events/tenants.ts';
import type { Service } from '#test/support/harness/in-memory-service.ts';
import { interruptAtEachAppend, ProcessDriver } from '#test/support/harness/process-harness.ts';
import { callerWithKey, rootKey, serviceWithKey } from './service-with-key.ts';

async function make(service: Service, maker: string): Promise<string> {
  const body = { name: 'Key', keyType: 'project' };
  return String(
    (await service.ok(createApiKey, { projectId: ids.project }, { caller: callerWithKey(maker), body })).body.id,
  );
}

const revoke = (service: Service, keyId: string, body = {}) => service.ok(revokeApiKey, { keyId }, { body });

async function areRevoked(service: Service, keyIds: ReadonlyArray<string>): Promise<ReadonlyArray<boolean>> {
  return Promise.all(keyIds.map(async (id) => (await service.writer.load(apiKey, id)).state?.revoked === true));
}

describe('revokeDescendantKeys', () => {
  it('revokes every key that the key or a descendant created, lists them, and keeps others valid', async () => {
    const service = await serviceWithKey();
    const child = await make(service, rootKey);
    const grandchild = await make(service, child);
    const other = await make(service, 'ckeyother0000001');
    const { body } = await revoke(service, rootKey, { descendants: true });
    assert.deepEqual(body.revokedKeyIds, [rootKey, child, grandchild]);
    await new ProcessDriver(revokeDescendantKeys, service).settle();
    assert.deepEqual(await areRevoked(service, [rootKey, child, grandchild, other]), [true, true, true, false]);
  });

  it('revokes every key that the key or a descendant rotated', async () => {
    const service = await serviceWithKey();
    const child = await make(service, rootKey);
    const [taken, kept] = [await make(service, 'ckeyother0000001'), await make(service, 'ckeyother0000001')];
    await service.ok(rotateApiKey, { keyId: taken }, { caller: callerWithKey(child) });
    const { body } = await revoke(service, rootKey, { descendants: true });
    assert.deepEqual(body.revokedKeyIds, [rootKey, child, taken]);
    await new ProcessDriver(revokeDescendantKeys, service).settle();
    assert.deepEqual(await areRevoked(service, [child, taken, kept]), [true, true, false]);
  });

  it('revokes descendants of keys that were revoked alone before, and of the key itself', async () => {
    const service = await serviceWithKey();
    const child = await make(service, rootKey);
    const grandchild = await make(service, child);
    await revoke(service, child);
    await revoke(service, rootKey);
    assert.deepEqual(await areRevoked(service, [grandchild]), [false]);
    assert.equal(await service.refusal(revokeApiKey, { keyId: rootKey }), 'key-not-found');
    const { body } = await revoke(service, rootKey, { descendants: true });
    assert.deepEqual(body.revokedKeyIds, [rootKey, grandchild]);
    await new ProcessDriver(revokeDescendantKeys, service).settle();
    assert.deepEqual(await areRevoked(service, [grandchild]), [true]);
    assert.equal(
      await service.refusal(revokeApiKey, { keyId: rootKey }, { body: { descendants: true } }),
      'key-not-found',
    );
  });

  it('revokes the listed keys although the read model cannot be read', async () => {
    const service = await serviceWithKey();
    const child = await make(service, rootKey);
    await revoke(service, rootKey, { descendants: true });
    service.documents.list = () => Promise.reject(new Error('the read model cannot be read'));
    await assert.rejects(new ProcessDriver(revokeDescendantKeys, service).settle());
    assert.deepEqual(await areRevoked(service, [child]), [true]);
  });

  for (const how of ['created', 'rotated'])
    it(`revokes a key that a descendant ${how} while that was being revoked`, async () => {
      const service = await serviceWithKey();
      const child = await make(service, rootKey);
      const taken = await make(service, 'ckeyother0000001');
      const driver = new ProcessDriver(revokeDescendantKeys, service);
      await driver.settle();
      service.store.beforeAppend = async ({ stream, events: [event] }) => {
        if (stream === `apiKey-${child}` || event?.type === 'ApiKeyRevoked') return null;
        service.store.beforeAppend = async () => null;
        await revoke(service, rootKey, { descendants: true });
        await driver.settle();
        return null;
      };
      // The node of the request ends before it checks the creating key again, so that only the process can revoke the new key.
      const load = service.writer.load.bind(service.writer);
      service.writer.load = async (entity, id, seen) => {
        if (id === child && ['ApiKeyCreated', 'ApiKeyRotated'].includes(service.store.types().at(-1) ?? ''))
          throw new Error('ended');
        return load(entity, id, seen);
      };
      const asked =
        how === 'created'
          ? make(service, child)
          : service.ok(rotateApiKey, { keyId: taken }, { caller: callerWithKey(child) });
      await assert.rejects(asked);
      const restarted = service.restarted();
      await new ProcessDriver(revokeDescendantKeys, restarted, driver.position).settle();
      const last = restarted.store.log.filter(({ type }) => type === 'ApiKeyCreated').at(-1);
      const concerned = how === 'created' ? String(last?.data.id) : taken;
      assert.deepEqual(await areRevoked(restarted, [child, concerned]), [true, true]);
    });

  it('gives the same result wherever the process ends and starts again', async () => {
    const story = async () => {
      const service = await serviceWithKey();
      const child = await make(service, rootKey);
      await make(service, child);
      await make(service, child);
      await revoke(service, rootKey, { descendants: true });
      return service;
    };
    const outcome = async ({ store }: Service) => store.types().filter((type) => type === 'ApiKeyRevoked').length;
    await interruptAtEachAppend(revokeDescendantKeys, story, outcome, assert.deepEqual);
  });

  it('changes nothing when it reads the log again', async () => {
    const service = await serviceWithKey();
    const child = await make(service, rootKey);
    const grandchild = await make(service, child);
    await revoke(service, child);
    await new ProcessDriver(revokeDescendantKeys, service).settle();
    assert.deepEqual(await areRevoked(service, [grandchild]), [false]);
    await revoke(service, rootKey, { descendants: true });
    await new ProcessDriver(revokeDescendantKeys, service).settle();
    const { length } = service.store.log;
    await new ProcessDriver(revokeDescendantKeys, service).settle();
    assert.equal(service.store.log.length, length);
  });
});
