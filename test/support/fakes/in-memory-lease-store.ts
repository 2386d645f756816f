import type { LeaseStore, LeaseTerm } from '#leases/lease-store.ts';

/** Leases in memory that the nodes of a test share. */
export class InMemoryLeaseStore implements LeaseStore {
  readonly #newest = new Map<string, LeaseTerm>();

  async newest(name: string): Promise<LeaseTerm | null> {
    return this.#newest.get(name) ?? null;
  }

  async begin(name: string, token: number, holder: string): Promise<boolean> {
    if (token <= (this.#newest.get(name)?.token ?? 0)) return false;
    this.#newest.set(name, { token, holder, renewals: 0, released: false });
    return true;
  }

  async renew(name: string, token: number): Promise<boolean> {
    return this.#change(name, token, ({ renewals }) => ({ renewals: renewals + 1 }));
  }

  async release(name: string, token: number): Promise<void> {
    this.#change(name, token, () => ({ released: true }));
  }

  async close(): Promise<void> {}

  #change(name: string, token: number, change: (term: LeaseTerm) => Partial<LeaseTerm>): boolean {
    const term = this.#newest.get(name);
    if (term?.token !== token) return false;
    this.#newest.set(name, { ...term, ...change(term) });
    return true;
  }
}
