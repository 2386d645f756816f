import assert from 'node:assert/strict';
import { type StoreDocument, stores } from '#projections/files/stores.ts';
import { storeCreated, storeDeleted, storeDescribed } from '#test/support/events/store-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const of = (...events: ReadonlyArray<ExampleEvent>) => projectStreams(stores, { [`store-${ids.store}`]: events });

describe('stores projection', () => {
  it('shows a store in the list of its project', () => {
    const times = { createdAt: timeOf(0), updatedAt: timeOf(0) };
    const record = { id: ids.store, name: 'House rules', description: null, status: 'ready', ...times };
    const document = { ...tenants.project, revision: 0, listedIn: ids.project, record };
    assert.deepEqual(of(storeCreated()), { [ids.store]: document });
  });

  it('shows a new name and description of a store', () => {
    const described = of(storeCreated(), storeDescribed('Rules', 'Ours'))[ids.store] as Record<string, object>;
    const times = { createdAt: timeOf(0), updatedAt: timeOf(1) };
    assert.deepEqual(described.record, {
      id: ids.store,
      name: 'Rules',
      description: 'Ours',
      status: 'ready',
      ...times,
    });
    assert.equal(described.revision, 1);
    assert.equal(
      (of(storeCreated(), storeDeleted(), storeDescribed('Rules', null))[ids.store] as StoreDocument).record,
      null,
    );
  });

  it('keeps nothing of a deleted store but its tenant and revision', () => {
    const place = { ...tenants.project, revision: 1, listedIn: null, record: null };
    assert.deepEqual(of(storeCreated(), storeDeleted()), { [ids.store]: place });
  });
});
