import type { LogMark } from '#domain/shared/log-mark.ts';
import type { LogComparison } from './log-comparison.ts';

/** A change of the log, so that it no longer has what was read of it. */
export interface LogChange {
  /** The newest event that was read. */
  readonly lost: LogMark;
  /** The newest event that the log still has; null for another log. */
  readonly common: LogMark | null;
}

/**
 * Compares the log with what was read of it whenever the store is in doubt. Until then nothing more is read, so that what
 * was read is never a mixture of two logs. After a change nothing is read any more.
 */
export class LogDoubts {
  readonly #compare: () => Promise<LogComparison | null>;
  readonly #listeners = new Set<(change: LogChange) => void>();
  #raised = 0;
  #settling: Promise<void> | null = null;
  #change: LogChange | null = null;

  /** @param compare returns null when the reader of the log is closed. Does not reject */
  constructor(compare: () => Promise<LogComparison | null>) {
    this.#compare = compare;
  }

  get raised(): number {
    return this.#raised;
  }

  /** Raises a doubt: the log may no longer have what was read of it. */
  raise(): void {
    if (this.#change !== null) return;
    this.#raised += 1;
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = null;
    });
  }

  /** Waits until no doubt is left. It does not resolve if the log has changed. */
  async settled(): Promise<void> {
    while (this.#settling !== null) await this.#settling;
    if (this.#change !== null) await new Promise(() => undefined);
  }

  /** Called once. @returns a function that removes the listener */
  onChanged(listener: (change: LogChange) => void): () => void {
    if (this.#change !== null) listener(this.#change);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #settle(): Promise<void> {
    for (let seen = -1; seen !== this.#raised && this.#change === null; ) {
      seen = this.#raised;
      const compared = await this.#compare();
      if (compared === null) return;
      const { lost, common } = compared;
      if (lost !== null) this.#change = { lost, common };
    }
    if (this.#change === null) return;
    for (const listener of this.#listeners) listener(this.#change);
  }
}
