import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type Clock, monotonicClock } from './clock.ts';
import type { LeaseStore, LeaseTerm } from './lease-store.ts';

export interface LeaseWatchOptions {
  readonly name: string;
  readonly leases: Pick<LeaseStore, 'newest'>;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

const lookMs = 500;
/** A holder that is silent for so long is dead, because it renews its term several times in this interval. */
const silenceMs = 3_000;

/** Watches whether a live node holds a lease, without taking part. A live node renews its term. */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  readonly #startedAt: number;
  #seen: LeaseTerm | null = null;
  #renewedAt = Number.NEGATIVE_INFINITY;

  /** Starts at once. It must be closed. */
  constructor(options: LeaseWatchOptions) {
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
    this.#startedAt = this.#clock.now();
    this.#watching = this.#watch();
  }

  /** Whether a live node holds the lease. It waits until that is known, for three seconds at most. */
  async isHeld(): Promise<boolean> {
    for (;;) {
      const now = this.#clock.now();
      if (now - this.#renewedAt <= silenceMs) return true;
      if (now - this.#startedAt > silenceMs || this.#closing.signal.aborted) return false;
      await this.#clock.pause(lookMs / 2, this.#closing.signal);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#look();
      await this.#clock.pause(lookMs, signal);
    }
  }

  async #look(): Promise<void> {
    try {
      const newest = await this.#options.leases.newest(this.#options.name);
      const before = this.#seen;
      this.#seen = newest;
      if (newest === null || before === null) return;
      if (newest.released) this.#renewedAt = Number.NEGATIVE_INFINITY;
      else if (newest.token !== before.token || newest.renewals !== before.renewals)
        this.#renewedAt = this.#clock.now();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
  }
}
