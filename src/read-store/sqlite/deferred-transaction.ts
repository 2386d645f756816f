import type { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { guarded } from './read-store-file.ts';

/** The transaction of the read store's only writer. It may stay open, so that the next work is part of it. */
export class DeferredTransaction {
  readonly #database: DatabaseSync;
  #begunAt = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** True while earlier work is not stored yet. */
  get isOpen(): boolean {
    return this.#database.isTransaction;
  }

  /**
   * Does work in the open transaction, or in a new one.
   * @param maxAgeMs up to this age the transaction stays open for further work
   * @throws Error if earlier work is lost too, and must be repeated from the stored checkpoints
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
      // Some errors, such as a full disk, roll the transaction back themselves.
      if (this.isOpen) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #begin(): void {
    this.#database.exec('BEGIN IMMEDIATE');
    this.#begunAt = performance.now();
  }
}
