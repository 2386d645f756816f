import { abortable } from '#shared/async/timed-waits.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import { type Clock, monotonicClock } from './clock.ts';
import type { LeaseTerm } from './lease-store.ts';
import type { Leases } from './leases.ts';

export interface LeaseWatchOptions {
  readonly name: string;
  readonly leases: Pick<Leases, 'look'>;
  /** Whether this node itself holds the lease now. Then the watch asks nothing. */
  readonly isHolder: () => boolean;
  readonly log: Logger;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

/** How often it looks while it searches for a holder, and otherwise. */
const searchLookMs = 500;
const restLookMs = 10_000;
/** How long it searches: after its start, after a release, and after an answer that no node holds the lease. */
const searchMs = 3_000;
/** A holder that is silent for this time is dead, because it renews its term between two looks. */
const silenceMs = 12_000;

/**
 * Watches whether a live node holds a lease, without taking part. A live node renews its term. At rest the watch looks
 * rarely, so it counts a dead holder as live for up to twelve seconds, if no other node takes over.
 */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  readonly #clock: Clock;
  readonly #outage: OutageLog;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  readonly #startedAt: number;
  #searchesUntil: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #seen: LeaseTerm | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;

  /** Starts at once. It must be closed. */
  constructor(options: LeaseWatchOptions) {
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
    this.#outage = new OutageLog(options.log, 'The store of leases', { lease: options.name });
    this.#startedAt = this.#clock.now();
    this.#searchesUntil = this.#startedAt + searchMs;
    this.#watching = this.#watch();
  }

  /**
   * Whether a live node holds the lease. After the start it waits until that is known, for three seconds at most. After
   * the answer that none does, it looks more often, so that the next answer is newer.
   */
  async isHeld(): Promise<boolean> {
    for (;;) {
      if (this.#isKnownAsHeld) return true;
      const now = this.#clock.now();
      if (now - this.#startedAt > searchMs || this.#closing.signal.aborted) {
        this.#searchesUntil = now + searchMs;
        return false;
      }
      await this.#clock.pause(searchLookMs / 2, this.#closing.signal);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
  }

  get #isKnownAsHeld(): boolean {
    return this.#options.isHolder() || this.#clock.now() - this.#renewedAt <= silenceMs;
  }

  get #isLookDue(): boolean {
    if (this.#options.isHolder()) return false;
    const now = this.#clock.now();
    const isSearching = now <= this.#searchesUntil && !this.#isKnownAsHeld;
    return isSearching || now - this.#lookedAt >= restLookMs;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      if (this.#isLookDue) await this.#look();
      await this.#clock.pause(searchLookMs, signal);
    }
  }

  async #look(): Promise<void> {
    this.#lookedAt = this.#clock.now();
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
    if (newest.released) {
      this.#renewedAt = Number.NEGATIVE_INFINITY;
      if (!before.released) this.#searchesUntil = this.#clock.now() + searchMs;
      return;
    }
    if (newest.token !== before.token || newest.renewals !== before.renewals) this.#renewedAt = this.#clock.now();
  }
}
