import { ChangeListener } from '#event-store/change-notifications.ts';
import { abortable, delay, withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { type ForeignStretch, shortestPollMs, type WakeUpSubscription } from './wake-ups.ts';

/** How long the log is watched after the last wait, because most followers wait again soon. */
const lingerMs = 1_000;
/** The maximum wait for the end of the log. A read without an answer must not end the watch. */
const maxAskMs = 15_000;

export interface LogWatchOptions {
  /** Reads and announces the end of the log. @throws UnavailableError */
  readonly askForEnd: () => Promise<unknown>;
  /** When anybody read the end last, on this process's clock. */
  readonly askedAt: () => number;
  /** Reports new events during waits. It may miss some. */
  readonly wakeUps: Pick<WakeUpSubscription, 'pollMs' | 'start'>;
  /** Called when a subscription has passed a part of the log without events of ours. */
  readonly onForeign: (stretch: ForeignStretch) => void;
}

/**
 * Announces new events of a server. While somebody waits, a subscription reports them, and the end of the log is asked for.
 * An announcement only wakes readers: another node than the one that a reader asks may have made it, so a reader moves by
 * the pages that it gets.
 */
export class LogWatch extends ChangeListener {
  readonly #options: LogWatchOptions;
  readonly #closed = new AbortController();
  #waiting = 0;
  #waitedAt = 0;
  #watching: Promise<void> | null = null;

  constructor(options: LogWatchOptions) {
    super();
    this.#options = options;
  }

  override async waitPast(position: number, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    this.#watch();
    try {
      await super.waitPast(position, signal);
    } finally {
      this.#waiting -= 1;
      this.#waitedAt = clock.now();
    }
  }

  override async close(): Promise<void> {
    this.#closed.abort();
    super.close();
    await this.#watching;
  }

  get #isWanted(): boolean {
    if (this.#closed.signal.aborted) return false;
    return this.#waiting > 0 || clock.now() - this.#waitedAt < lingerMs;
  }

  #watch(): void {
    if (this.#closed.signal.aborted) return;
    this.#watching ??= this.#watchWhileWanted().finally(() => {
      this.#watching = null;
      if (this.#waiting > 0) this.#watch();
    });
  }

  async #watchWhileWanted(): Promise<void> {
    const { wakeUps, askForEnd, askedAt, onForeign } = this.#options;
    const { signal } = this.#closed;
    const stopWakeUps = wakeUps.start({
      end: () => this.position,
      onStored: (position) => this.notify(position),
      onForeign,
    });
    while (this.#isWanted) {
      const dueInMs = askedAt() + wakeUps.pollMs - clock.now();
      // Looks again before it is due, because the subscription may end meanwhile.
      if (dueInMs > 0) await delay(Math.min(dueInMs, shortestPollMs), signal);
      // Readers see the failure themselves.
      else await abortable(signal, () => withTimeout(maxAskMs, askForEnd(), null)).catch(() => null);
    }
    stopWakeUps();
  }
}
