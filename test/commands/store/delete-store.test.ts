import assert from 'node:assert/strict';
import { deleteStore } from '#commands/store/delete-store.ts';
import { store, storeMade, storeRemoved } from '#domain/store/store.ts';
import { storeCreated, storeDeleted } from '#test/support/events/store-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

describe('delete_store', () => {
  it('deletes a store', () => {
    givenHistory(storeCreated()).when(deleteStore, { store_id: ids.store }).then(storeDeleted());
  });
});

describe('storeMade and storeRemoved', () => {
  const { data } = storeCreated();
  const none = null;
  const live = stateOf(store, storeCreated());
  const gone = stateOf(store, storeCreated(), storeDeleted());

  it('creates a provisioned store once, and never again after its deletion', () => {
    assert.deepEqual(storeMade(data, none), [storeCreated()]);
    for (const state of [live, gone]) assert.deepEqual(storeMade(data, state), []);
  });

  it('deletes a provisioned store once', () => {
    assert.deepEqual(storeRemoved(ids.store, live), [storeDeleted()]);
    for (const state of [none, gone]) assert.deepEqual(storeRemoved(ids.store, state), []);
  });
});
