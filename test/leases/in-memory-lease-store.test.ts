import { leaseStoreContract } from '#test/contract/lease-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';

// What stands in for a store in other tests is held to what the real one does.
leaseStoreContract('in memory', () => {
  const store = new InMemoryLeaseStore();
  return () => store;
});
