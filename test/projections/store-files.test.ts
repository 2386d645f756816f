import assert from 'node:assert/strict';
import { type StoreFileDocument, storeFileKey, storeFiles } from '#projections/files/store-files.ts';
import { stores } from '#projections/files/stores.ts';
import { storeCreated, storeDeleted, storeFileAdded, storeFileRemoved } from '#test/support/events/store-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const fileId = 'file-cfileone00000001';
const key = storeFileKey(ids.store, fileId);
const of = (...events: ReadonlyArray<ExampleEvent>) => projectStreams(storeFiles, { [`store-${ids.store}`]: events });

describe('store-files projection', () => {
  it('shows a file in the list of its store', () => {
    const record = {
      id: fileId,
      object: 'store.file',
      store_id: ids.store,
      bytes: 120,
      status: 'ready',
      created_at: Math.floor(Date.parse(timeOf(1)) / 1_000),
    };
    const document = { ...tenants.project, storeId: ids.store, fileId, listedIn: ids.store, record };
    assert.deepEqual(of(storeCreated(), storeFileAdded(fileId)), { [key]: document });
  });

  it('keeps the place of a removed file, and shows the file again when it is added again', () => {
    const removed = of(storeCreated(), storeFileAdded(fileId), storeFileRemoved(fileId))[key] as StoreFileDocument;
    assert.deepEqual([removed.listedIn, removed.record, removed.fileId], [null, null, fileId]);
    const again = of(storeCreated(), storeFileAdded(fileId), storeFileRemoved(fileId), storeFileAdded(fileId));
    assert.equal((again[key] as StoreFileDocument).listedIn, ids.store);
  });
});

describe('stores projection', () => {
  it('advances the revision and the time of a store with its files', () => {
    const project = (...events: ReadonlyArray<ExampleEvent>) =>
      projectStreams(stores, { [`store-${ids.store}`]: events })[ids.store] as unknown as {
        revision: number;
        record: { updatedAt: string } | null;
      };
    const filled = project(storeCreated(), storeFileAdded(fileId));
    assert.deepEqual([filled.revision, filled.record?.updatedAt], [1, timeOf(1)]);
    const emptied = project(storeCreated(), storeFileAdded(fileId), storeFileRemoved(fileId));
    assert.deepEqual([emptied.revision, emptied.record?.updatedAt], [2, timeOf(2)]);
    assert.equal(project(storeCreated(), storeFileAdded(fileId), storeDeleted()).record, null);
  });
});
