import type { RoundWrite, TermId } from '#leases/lease-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';

/** The leases that the nodes of a world share. */
export class SharedLeases extends InMemoryLeaseStore {
  /** Called with the holder when a renewal makes an expiry much shorter. The answer to the renewal is lost then. */
  onShorterExpiry: ((holder: string) => void) | null = null;

  override async renewAll(terms: ReadonlyArray<TermId>, round: RoundWrite): Promise<number> {
    const shorter = terms.map(({ name }) => this.newest(name)).find((term) => isMuchLonger(term?.expiryMs, round));
    const renewed = await super.renewAll(terms, round);
    if (this.onShorterExpiry === null || !shorter) return renewed;
    this.onShorterExpiry(shorter.holder);
    throw new UnavailableError('The answer of the store of leases is lost.');
  }
}

function isMuchLonger(expiryMs: number | undefined, round: RoundWrite): boolean {
  return expiryMs !== undefined && expiryMs > 2 * round.expiryMs;
}
