import { withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';

/** How long everything of a node may take to stop and close. */
const maxStopMs = 5_000;
/** The part of it that is kept for closing the stores, which write what is pending. */
const closingMs = 1_000;

/**
 * Everything of a node that must be stopped and closed: the work that it does by itself, and below it the parts that the
 * work uses. It waits for nothing that does not end.
 */
export class OpenedParts extends AsyncDisposableStack {
  readonly #work = new Map<string, () => Promise<void>>();

  /** Adds work that the node does by itself. @param stop ends it, and waits for its end; never rejects */
  addWork(name: string, stop: () => Promise<void>): void {
    this.#work.set(name, stop);
  }

  /**
   * Stops all work at the same time, and then closes the parts in the reverse order of opening. That takes 5 s at most.
   * @param limitMs a shorter limit
   * @returns the names of what has not ended in time and is left
   */
  async close(limitMs = maxStopMs): Promise<ReadonlyArray<string>> {
    const until = clock.now() + Math.min(limitMs, maxStopMs);
    const left = await this.#stopWork(until - closingMs - clock.now());
    const closed = super.disposeAsync().then(() => true);
    const isClosed = await withTimeout(until - clock.now(), closed, false);
    return isClosed ? left : [...left, 'stores'];
  }

  override async disposeAsync(): Promise<void> {
    await this.close();
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }

  async #stopWork(limitMs: number): Promise<ReadonlyArray<string>> {
    const left = new Set(this.#work.keys());
    const stopping = [...this.#work].map(([name, stop]) => stop().finally(() => left.delete(name)));
    await withTimeout(limitMs, Promise.allSettled(stopping), undefined);
    return [...left];
  }
}
