import type { SmallStoresPlace } from '#app/stores/small-stores.ts';
import type { Leases } from '#leases/leases.ts';
import { OlderRelease } from '#leases/older-release.ts';
import type { RecordStore } from '#records/record-store.ts';
import { retrying } from '#shared/async/retrying.ts';
import type { Logger } from '#shared/logging/logger.ts';

export interface EarlierWorkOptions {
  readonly leases: Leases;
  readonly records: RecordStore;
  readonly place: SmallStoresPlace & { readonly kind: 'shared' };
  readonly log: Logger;
}

/** The release before ran each process under a lease of its own. */
const isOfEarlierProcess = (lease: string) => lease.startsWith('process:');

/** The work that nodes of the release before have done on shared stores, and that this release continues. */
export class EarlierWork {
  readonly #options: EarlierWorkOptions;
  readonly #older: OlderRelease;

  constructor(options: EarlierWorkOptions) {
    const { leases, log } = options;
    this.#options = options;
    this.#older = new OlderRelease({ leases, isOlder: isOfEarlierProcess, log });
  }

  /** The nodes of the release before that still work. */
  get nodes(): ReadonlyArray<string> {
    return this.#older.nodes;
  }

  /**
   * Waits until no node of the release before works, and takes over its work if that was not done yet. It waits in every
   * term, because a node of the release before may have been started again. When the signal aborts, it may return
   * before the work is taken over: the caller must look at the signal.
   * @throws UnavailableError after the signal has aborted
   */
  async takeOver(signal: AbortSignal): Promise<void> {
    await this.#older.wait(signal);
    if (signal.aborted) return;
    // A start with embedded stores does not load the driver.
    const { takeOverMongoDbRecords } = await import('./mongodb-records.ts');
    const { records, place, log } = this.#options;
    const { connection } = place;
    await retrying(
      'Taking over the work of the release before',
      () => takeOverMongoDbRecords({ connection, records, part: 'work' }),
      { log, signal },
    );
  }
}
