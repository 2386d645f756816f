import assert from 'node:assert/strict';
import { createStore } from '#commands/store/create-store.ts';
import { storeCreated } from '#test/support/events/store-events.ts';
import { callerOf, newIds, tenants } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

describe('create_store', () => {
  it('creates a store in the project of the caller’s key', () => {
    givenHistory()
      .when(createStore, { name: 'House rules' })
      .then(storeCreated({ id: newIds.id }));
    const description = 'What guests ask most';
    givenHistory()
      .when(createStore, { name: 'House rules', description }, { caller: callerOf('organization', tenants.customer) })
      .then(storeCreated({ id: newIds.id, projectId: tenants.customer.projectId, description }));
  });

  it('puts a store under the tenant of the caller’s key', () => {
    const caller = callerOf('project', tenants.customer);
    assert.deepEqual(createStore.creates?.tenant?.({ name: 'a' }, { caller } as never), tenants.customer);
  });

  describe('input of create_store', () => {
    const of = inputOf(createStore, { name: 'House rules' });
    of.required('name');
    of.refuses('name', '');
    of.refuses('name', null);
    of.refuses('name', 7);
    of.accepts('name', 'a'.repeat(100_000), '100000 × a');
    of.optional('description', undefined);
    for (const description of [null, '', 'a'.repeat(100_000)]) of.accepts('description', description);
    for (const description of [7, true, ['a']]) of.refuses('description', description);
    of.ignoresUnknown();
  });
});
