import type { LeaseStore, LeaseTerm, RoundWrite, TermId } from '#leases/lease-store.ts';

interface StoredTerm extends LeaseTerm {
  readonly name: string;
}

/** Leases in memory that the nodes of a test share. As on MongoDB, older terms are removed a little later. */
export class InMemoryLeaseStore implements LeaseStore {
  readonly #terms = new Map<string, StoredTerm>();

  async newestOfAll(): Promise<ReadonlyMap<string, LeaseTerm>> {
    return this.#newestOfAll();
  }

  /** Returns the newest term of a lease; null if there was never one. */
  newest(name: string): LeaseTerm | null {
    return this.#newestOfAll().get(name) ?? null;
  }

  async begin(name: string, token: number, holder: string, expiryMs: number): Promise<boolean> {
    const isFirst = await this.insert(name, token, holder, expiryMs);
    if (isFirst) queueMicrotask(() => this.removeOlder(name, token));
    return isFirst;
  }

  /** Begins a term, and removes nothing. */
  async insert(name: string, token: number, holder: string, expiryMs: number): Promise<boolean> {
    if (this.#terms.has(idOf(name, token))) return false;
    this.#terms.set(idOf(name, token), { name, token, holder, renewals: 0, expiryMs, released: false });
    return true;
  }

  async removeOlder(name: string, token: number): Promise<void> {
    for (const [id, term] of this.#terms) if (term.name === name && term.token < token) this.#terms.delete(id);
  }

  async renewAll(terms: ReadonlyArray<TermId>, { number: renewals, expiryMs }: RoundWrite): Promise<number> {
    const renewable = terms.filter(
      ({ name, token }) => (this.#terms.get(idOf(name, token))?.renewals ?? renewals) < renewals,
    );
    for (const { name, token } of renewable) this.#change(name, token, { renewals, expiryMs });
    return renewable.length;
  }

  async release(name: string, token: number): Promise<void> {
    this.#change(name, token, { released: true });
  }

  async close(): Promise<void> {}

  #newestOfAll(): ReadonlyMap<string, LeaseTerm> {
    const newest = new Map<string, LeaseTerm>();
    for (const { name, ...term } of this.#terms.values())
      if (term.token > (newest.get(name)?.token ?? 0)) newest.set(name, term);
    return newest;
  }

  #change(name: string, token: number, change: Partial<LeaseTerm>): void {
    const term = this.#terms.get(idOf(name, token));
    if (term !== undefined) this.#terms.set(idOf(name, token), { ...term, ...change });
  }
}

function idOf(name: string, token: number): string {
  return `${name}#${token}`;
}
