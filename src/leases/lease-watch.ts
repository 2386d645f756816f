import { abortable } from '#shared/async/abortable.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import { type Clock, monotonicClock } from './clock.ts';
import type { LeaseTerm } from './lease-store.ts';
import type { Leases } from './leases.ts';

export interface LeaseWatchOptions {
  readonly name: string;
  readonly leases: Pick<Leases, 'look'>;
  readonly log: Logger;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

const lookMs = 500;
/** A holder that is silent for this time is dead, because it renews its term several times in this interval. */
const silenceMs = 3_000;

/** Watches whether a live node holds a lease, without taking part. A live node renews its term. */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  readonly #clock: Clock;
  readonly #outage: OutageLog;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  readonly #startedAt: number;
  #seen: LeaseTerm | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;

  /** Starts at once. It must be closed. */
  constructor(options: LeaseWatchOptions) {
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
    this.#outage = new OutageLog(options.log, 'The store of leases', { lease: options.name });
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
      const { signal } = this.#closing;
      this.#observe((await abortable(signal, () => this.#options.leases.look())).get(this.#options.name));
      this.#outage.succeeded();
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#outage.failed(error);
    }
  }

  #observe(newest: LeaseTerm | undefined): void {
    const before = this.#seen;
    this.#seen = newest;
    if (newest === undefined || before === undefined) return;
    if (newest.released) this.#renewedAt = Number.NEGATIVE_INFINITY;
    else if (newest.token !== before.token || newest.renewals !== before.renewals) this.#renewedAt = this.#clock.now();
  }
}
