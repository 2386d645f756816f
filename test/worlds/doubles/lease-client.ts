import type { LeaseStore, LeaseTerm, RoundWrite, TermId } from '#leases/lease-store.ts';
import type { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';

/** The leases of a world as a node has them open. As on MongoDB, a separate call removes older terms, and may fail. */
export class LeaseClient implements LeaseStore {
  readonly #store: InMemoryLeaseStore;
  readonly #onBegun: (name: string) => void;

  /**
   * @param store as the node reaches it
   * @param onBegun called when this node knows that it has begun a term
   */
  constructor(store: InMemoryLeaseStore, onBegun: (name: string) => void) {
    this.#store = store;
    this.#onBegun = onBegun;
  }

  newestOfAll(): Promise<ReadonlyMap<string, LeaseTerm>> {
    return this.#store.newestOfAll();
  }

  async begin(name: string, token: number, holder: string, expiryMs: number): Promise<boolean> {
    const isFirst = await this.#store.insert(name, token, holder, expiryMs);
    if (!isFirst) return false;
    this.#onBegun(name);
    this.#store.removeOlder(name, token).catch(() => undefined);
    return true;
  }

  renewAll(terms: ReadonlyArray<TermId>, round: RoundWrite): Promise<number> {
    return this.#store.renewAll(terms, round);
  }

  release(name: string, token: number): Promise<void> {
    return this.#store.release(name, token);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
