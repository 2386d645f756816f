import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { deleteFile } from '#commands/file/delete-file.ts';
import { addStoreFile } from '#commands/store/add-store-file.ts';
import { createStore } from '#commands/store/create-store.ts';
import { deleteStore } from '#commands/store/delete-store.ts';
import { file } from '#domain/file/file.ts';
import { removeStoreFiles } from '#processes/cascades.ts';
import type { StoreFileDocument } from '#projections/files/store-files.ts';
import { fileCreated, fileId } from '#test/support/events/file-events.ts';
import { tenants } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { interruptAtEachAppend, ProcessDriver } from '#test/support/harness/process-harness.ts';

const otherFileId = 'file-cfiletwo00000001';
const origin = {
  actor: { keyId: 'ckeyadmin0000000', keyType: 'admin' },
  requestId: 'request-1',
  correlationId: 'request-1',
  causationId: 'request-1',
};

/** A service with two files and two stores. */
async function startService() {
  const service = new Service();
  for (const id of [fileId, otherFileId]) {
    const decide = () => E.right({ events: [fileCreated({ id })], tenant: tenants.project });
    await service.writer.write({ entity: file, id, origin, decide });
  }
  const make = async (name: string) =>
    String((await service.ok(createStore, {}, { body: { name }, idempotencyKey: name })).body.id);
  const stores = [await make('first'), await make('second')];
  const add = (store_id: string | undefined, file_id = fileId) =>
    service.ok(addStoreFile, { store_id: store_id ?? '' }, { body: { file_id } });
  return { service, stores, add };
}

/** The files in stores, as the read model shows them. */
async function contents({ documents }: Service): Promise<ReadonlyArray<readonly [string, string]>> {
  const page = { limit: 1e6, maxBytes: 1e9 };
  const found = await documents.list<StoreFileDocument>('store-files', {}, page);
  return found.documents
    .filter(({ value }) => value.listedIn !== null)
    .map(({ value }) => [value.storeId, value.fileId] as const);
}

const removals = ({ store }: Service) => store.log.filter(({ type }) => type === 'StoreFileRemoved');

describe('remove-store-files', () => {
  it('removes a deleted file from all its stores, and keeps other files', async () => {
    const { service, stores, add } = await startService();
    for (const store of stores) await add(store);
    await add(stores[0], otherFileId);
    await service.ok(deleteFile, { file_id: fileId });
    await new ProcessDriver(removeStoreFiles, service).settle();
    assert.deepEqual(await contents(service), [[stores[0], otherFileId]]);
    assert.deepEqual(
      removals(service).map(({ data }) => data.reason),
      ['file-deleted', 'file-deleted'],
    );
  });

  it('removes a file that was added to a store during its deletion', async () => {
    const { service, stores, add } = await startService();
    const driver = new ProcessDriver(removeStoreFiles, service);
    // The file is deleted after the decision has seen it, before the addition is stored.
    service.store.beforeAppend = async ({ stream }) => {
      if (!stream.startsWith('store-')) return null;
      service.store.beforeAppend = async () => null;
      await service.ok(deleteFile, { file_id: fileId });
      await driver.settle();
      return null;
    };
    await add(stores[0]);
    assert.deepEqual(await contents(service), [[stores[0], fileId]]);
    await driver.settle();
    assert.deepEqual(await contents(service), []);
  });

  it('does not change a deleted store', async () => {
    const { service, stores, add } = await startService();
    await add(stores[0]);
    await service.ok(deleteStore, { store_id: stores[0] ?? '' });
    await service.ok(deleteFile, { file_id: fileId });
    await new ProcessDriver(removeStoreFiles, service).settle();
    assert.equal(removals(service).length, 0);
  });

  it('gives the same result wherever it ends and starts again', async () => {
    const story = async () => {
      const { service, stores, add } = await startService();
      for (const store of stores) await add(store);
      await service.ok(deleteFile, { file_id: fileId });
      return service;
    };
    const outcome = async (service: Service) => [await contents(service), removals(service).length];
    await interruptAtEachAppend(removeStoreFiles, story, outcome, assert.deepEqual);
  });
});
