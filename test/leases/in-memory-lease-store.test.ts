import { leaseStoreContract } from '#test/contract/lease-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';

// The in-memory store that other tests use passes the contract of the real one.
leaseStoreContract('in memory', () => {
  const store = new InMemoryLeaseStore();
  return () => store;
});
