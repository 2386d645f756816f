import { ChangeListener } from '#event-store/change-notifications.ts';
import type { LogChanges } from '#event-store/log-pages.ts';
import { abortable, delay } from '#shared/async/timed-waits.ts';
import type { ForeignStretch, SharedPage } from './page-exchange.ts';
import type { WakeUpSource } from './wake-ups.ts';

/** How long the end is watched after the last wait, because most followers wait again soon. */
const lingerMs = 1_000;

export interface LogEndOptions {
  /** Reads the position of the last event of ours that it finds after a position. @throws UnavailableError */
  readonly ask: (after: number) => Promise<number>;
  /** Reports new events during waits. It may miss some, because the end is also polled. */
  readonly wakeUps: WakeUpSource;
  /** Called with a page that another thread has read, before its waiting followers. */
  readonly onPage: (page: SharedPage) => void;
  /** Called with a stream that another thread has removed. */
  readonly onRemoved: (stream: string) => void;
  /** Called when `foreign` has changed. */
  readonly onForeign: (stretch: ForeignStretch) => void;
}

/** How often a wait looks whether a poll is due. */
const pollCheckMs = 200;

const noStretch: ForeignStretch = { after: 0, before: 0 };

/**
 * The highest position at which an event of ours is known to be stored, and the waits for further ones. Its sources are
 * this node's own appends, wake-ups, and polling during waits. What it knows only wakes readers: another node than the one
 * that a reader asks may have announced it, so a reader moves by the pages that it gets, and never to this position.
 */
export class LogEnd implements LogChanges {
  readonly #options: LogEndOptions;
  readonly #listener = new ChangeListener();
  readonly #closed = new AbortController();
  #known = 0;
  #foreign = noStretch;
  #doubts = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #waitedAt = Number.NEGATIVE_INFINITY;
  #watching: Promise<void> | null = null;

  constructor(options: LogEndOptions) {
    this.#options = options;
    options.wakeUps.onRemoved?.(options.onRemoved);
  }

  get known(): number {
    return this.#known;
  }

  /** The newest known part of the log without events of ours. */
  get foreign(): ForeignStretch {
    return this.#foreign;
  }

  /** The number of doubts so far. */
  get doubts(): number {
    return this.#doubts;
  }

  /** Reports that an event of ours is stored at a position. */
  raise(position: number): void {
    if (position <= this.#known) return;
    this.#known = position;
    this.#listener.notify(position);
  }

  /** Reports that the end of the log was read, so that it need not be polled now. */
  asked(): void {
    this.#askedAt = performance.now();
  }

  /** Reports that what is stored after a position was lost before anybody read it. */
  withdraw(position: number): void {
    this.#known = position;
    this.#listener.withdraw(position);
  }

  /** Reports a part of the log without events of ours. */
  passForeign(stretch: ForeignStretch): void {
    this.#foreign = stretch;
    this.#options.onForeign(stretch);
  }

  /** Must be called when a read failed: a server may refuse to begin where a checkpoint was. */
  forgetForeign(): void {
    this.#foreign = noStretch;
  }

  /** Reports that what was read may not be in the log any more. */
  doubt(): void {
    this.#doubts += 1;
    this.forgetForeign();
    this.#listener.notifyDoubt();
  }

  onStreamRemoved(listener: (stream: string) => void): () => void {
    return this.#listener.onStreamRemoved(listener);
  }

  onDoubt(listener: () => void): () => void {
    return this.#listener.onDoubt(listener);
  }

  /** Reports the removal of a stream. */
  removed(stream: string): void {
    this.#listener.notifyRemoval(stream);
  }

  async waitPast(position: number, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    this.raise(position);
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
      if (this.#waiting > 0) this.#watch();
    });
  }

  async #watchWhileWanted(): Promise<void> {
    const { wakeUps, ask, onPage } = this.#options;
    const stopWakeUps = wakeUps.start({
      end: () => this.#known,
      onStored: (position, page) => {
        if (page !== undefined) onPage(page);
        this.raise(position);
      },
      onForeign: (stretch) => this.passForeign(stretch),
    });
    try {
      while (this.#isWanted) {
        const left = this.#askedAt + wakeUps.pollMs - performance.now();
        if (left > 0) {
          await delay(Math.min(left, pollCheckMs), this.#closed.signal);
          continue;
        }
        this.asked();
        // Readers see the failure themselves; the next read reports the end.
        const position = await abortable(this.#closed.signal, () => ask(this.#known)).catch(() => null);
        if (position !== null) this.raise(position);
      }
    } finally {
      stopWakeUps();
    }
  }
}
