import { ChangeListener } from '#event-store/change-notifications.ts';
import { delay } from '#shared/async/delay.ts';
import type { SharedPage } from './page-port.ts';
import type { WakeUpSource } from './wake-up-source.ts';

/** How long it is watched after the last wait has ended: most followers wait again soon. */
const lingerMs = 1_000;

export interface LogEndOptions {
  /** Asks where the log ends, other applications' events included. @throws UnavailableError */
  readonly ask: () => Promise<number>;
  /** Reports new events while somebody waits. It may miss any of them, because the end is asked for too. */
  readonly wakeUps: WakeUpSource;
  /** Gets a page that another thread has read, before those who wait for it. */
  readonly onPage: (page: SharedPage) => void;
}

/**
 * Where the log ends, as far as is known, and whoever waits for it to grow. It learns of that from this node's own
 * appends, from what wakes it, and by asking while somebody waits.
 */
export class LogEnd {
  readonly #options: LogEndOptions;
  readonly #listener = new ChangeListener();
  readonly #closed = new AbortController();
  #known = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #waitedAt = Number.NEGATIVE_INFINITY;
  #watching: Promise<void> | null = null;

  constructor(options: LogEndOptions) {
    this.#options = options;
  }

  /** The last position that is known to be stored. */
  get known(): number {
    return this.#known;
  }

  /** Reports that the log has reached a position. */
  raise(position: number): void {
    if (position <= this.#known) return;
    this.#known = position;
    this.#listener.notify(position);
  }

  /** Reports where the log ended when it was asked just now. */
  asked(position: number): void {
    this.#askedAt = performance.now();
    this.raise(position);
  }

  /** Waits until the log is known to go on after a position, or the signal aborts. */
  async waitPast(position: number, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    this.#watch();
    try {
      await this.#listener.waitPast(position, signal);
    } finally {
      this.#waiting -= 1;
      this.#waitedAt = performance.now();
    }
  }

  /** Ends every wait. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#listener.close();
    await this.#watching;
  }

  get #isWanted(): boolean {
    if (this.#closed.signal.aborted) return false;
    return this.#waiting > 0 || performance.now() - this.#waitedAt < lingerMs;
  }

  #watch(): void {
    if (this.#closed.signal.aborted) return;
    this.#watching ??= this.#watchWhileWanted().finally(() => {
      this.#watching = null;
    });
  }

  async #watchWhileWanted(): Promise<void> {
    const { wakeUps, ask, onPage } = this.#options;
    const stopWakeUps = wakeUps.start((position, page) => {
      if (page !== undefined) onPage(page);
      this.raise(position);
    });
    try {
      while (this.#isWanted) {
        const left = this.#askedAt + wakeUps.askEveryMs - performance.now();
        if (left > 0) {
          await delay(left, this.#closed.signal);
          continue;
        }
        this.#askedAt = performance.now();
        // Readers see the failure themselves; the next answer says where the log ends.
        const position = await ask().catch(() => null);
        if (position !== null) this.raise(position);
      }
    } finally {
      stopWakeUps();
    }
  }
}
