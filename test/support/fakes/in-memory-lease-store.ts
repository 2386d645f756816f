import type { LeaseStore, LeaseTerm, TermId } from '#leases/lease-store.ts';

/** Leases in memory that the nodes of a test share. */
export class InMemoryLeaseStore implements LeaseStore {
  readonly #newest = new Map<string, LeaseTerm>();

  async newestOfAll(): Promise<ReadonlyMap<string, LeaseTerm>> {
    return new Map(this.#newest);
  }

  /** Returns the newest term of a lease; null if there was never one. */
  newest(name: string): LeaseTerm | null {
    return this.#newest.get(name) ?? null;
  }

  async begin(name: string, token: number, holder: string): Promise<boolean> {
    if (token <= (this.#newest.get(name)?.token ?? 0)) return false;
    this.#newest.set(name, { token, holder, renewals: 0, released: false });
    return true;
  }

  async renewAll(terms: ReadonlyArray<TermId>): Promise<number> {
    const renewed = terms.filter(({ name, token }) =>
      this.#change(name, token, ({ renewals }) => ({ renewals: renewals + 1 })),
    );
    return renewed.length;
  }

  async release(name: string, token: number): Promise<void> {
    this.#change(name, token, () => ({ released: true }));
  }

  async close(): Promise<void> {}

  /** @returns whether it is the newest term; only that one is kept */
  #change(name: string, token: number, change: (term: LeaseTerm) => Partial<LeaseTerm>): boolean {
    const term = this.#newest.get(name);
    if (term?.token !== token) return false;
    this.#newest.set(name, { ...term, ...change(term) });
    return true;
  }
}
