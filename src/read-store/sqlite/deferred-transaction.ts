import type { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { guarded } from './read-store-file.ts';

/** Transactions of the read store's one writer. One may be left open, so that the next work is part of it. */
export class DeferredTransaction {
  readonly #database: DatabaseSync;
  #begunAt = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Whether earlier work is not stored yet. */
  get isOpen(): boolean {
    return this.#database.isTransaction;
  }

  /**
   * Does work in the transaction that is open, or in a new one.
   * @param maxAgeMs how old the transaction may be to be left open for the next work
   * @throws Error when earlier work is lost with this: it must be done again from the stored checkpoints
   */
  run<Result>(work: () => Result, maxAgeMs = 0): Result {
    const wasOpen = this.isOpen;
    try {
      return guarded(() => this.#do(work, maxAgeMs));
    } catch (error) {
      if (!wasOpen || !(error instanceof UnavailableError)) throw error;
      throw new Error('The read store has lost commits that were put off.', { cause: error });
    }
  }

  /** Stores earlier work. */
  end(): void {
    guarded(() => {
      if (this.isOpen) this.#database.exec('COMMIT');
    });
  }

  #do<Result>(work: () => Result, maxAgeMs: number): Result {
    if (!this.isOpen) this.#begin();
    try {
      const result = work();
      if (performance.now() - this.#begunAt >= maxAgeMs) this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      // Some errors (a full disk) have rolled it back already.
      if (this.isOpen) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #begin(): void {
    this.#database.exec('BEGIN IMMEDIATE');
    this.#begunAt = performance.now();
  }
}
