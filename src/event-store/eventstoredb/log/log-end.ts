import { ChangeListener } from '#event-store/change-notifications.ts';
import type { LogChanges } from '#event-store/log-pages.ts';
import { delay } from '#shared/async/delay.ts';
import type { SharedPage } from './page-port.ts';
import type { WakeUpSource } from './wake-up-source.ts';

/** How long the end is watched after the last wait, because most followers wait again soon. */
const lingerMs = 1_000;

export interface LogEndOptions {
  /** Reads the end of the log, including events of other applications. @throws UnavailableError */
  readonly ask: () => Promise<number>;
  /** Reports new events during waits. It may miss some, because the end is also polled. */
  readonly wakeUps: WakeUpSource;
  /** Called with a page that another thread has read, before its waiting followers. */
  readonly onPage: (page: SharedPage) => void;
  /** Called with a stream that another thread has removed. */
  readonly onRemoved: (stream: string) => void;
}

/**
 * The known end of the log, and the waits for it to grow. Its sources are this node's own appends, wake-ups, and
 * polling during waits.
 */
export class LogEnd implements LogChanges {
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
    options.wakeUps.onRemoved?.(options.onRemoved);
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

  /** Reports the end of the log from a read. */
  asked(position: number): void {
    this.#askedAt = performance.now();
    this.raise(position);
  }

  onStreamRemoved(listener: (stream: string) => void): () => void {
    return this.#listener.onStreamRemoved(listener);
  }

  /** Reports the removal of a stream. */
  removed(stream: string): void {
    this.#listener.notifyRemoval(stream);
  }

  async waitPast(position: number, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    this.#watch();
    try {
      await this.#listener.waitPast(position, AbortSignal.any([signal, this.#closed.signal]));
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
        // Readers see the failure themselves; the next read reports the end.
        const position = await ask().catch(() => null);
        if (position !== null) this.raise(position);
      }
    } finally {
      stopWakeUps();
    }
  }
}
