import { abortable, delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { LeaseTerm } from './lease-store.ts';
import type { Leases } from './leases.ts';

export interface LeaseWatchOptions {
  readonly name: string;
  readonly leases: Pick<Leases, 'look'>;
  /** True if this node holds the lease. The watch then makes no calls. */
  readonly isHolder: () => boolean;
  readonly log: Logger;
}

const searchLookMs = 500;
const restLookMs = 10_000;
/**
 * How long it searches at least: after its start, after a release, and after an answer that no node holds the lease. It
 * needs two looks, which take longer on a slow store, so it searches for the expiry of a term if that is longer.
 */
const minSearchMs = 3_000;
/** A holder that is silent for this time is dead, because it renews its term between two looks. */
const minSilenceMs = 12_000;
/** On a slow store a holder is dead after this multiple of its expiry. */
const silentExpiries = 3;

/**
 * Watches whether a live node holds a lease, without taking part. A live node renews its term. At rest the watch looks
 * rarely, so it counts a dead holder as live for up to twelve seconds, if no other node takes over; for longer on a slow
 * store.
 */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  readonly #outage: OutageLog;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  readonly #startedAt: number;
  #searchesUntil: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #seen: LeaseTerm | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;

  /** Starts immediately. It must be closed. */
  constructor(options: LeaseWatchOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log, 'The store of leases', { lease: options.name });
    this.#startedAt = clock.now();
    this.#searchesUntil = this.#startedAt + minSearchMs;
    this.#watching = this.#watch();
  }

  /**
   * Whether a live node holds the lease. After the start it waits until that is known, for three seconds at most, or
   * for the expiry of a longer term. After the answer that none does, it looks more often, so that the next answer is
   * newer.
   */
  async isHeld(): Promise<boolean> {
    for (;;) {
      if (this.#isKnownAsHeld) return true;
      const now = clock.now();
      if (now - this.#startedAt > this.#searchMs || this.#closing.signal.aborted) {
        this.#searchesUntil = now + this.#searchMs;
        return false;
      }
      await delay(searchLookMs / 2, this.#closing.signal);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
  }

  get #isKnownAsHeld(): boolean {
    return this.#options.isHolder() || clock.now() - this.#renewedAt <= this.#silenceMs;
  }

  get #silenceMs(): number {
    return Math.max(minSilenceMs, silentExpiries * (this.#seen?.expiryMs ?? 0));
  }

  get #searchMs(): number {
    return Math.max(minSearchMs, this.#seen?.expiryMs ?? 0);
  }

  get #isLookDue(): boolean {
    if (this.#options.isHolder()) return false;
    const now = clock.now();
    const isSearching = now <= this.#searchesUntil && !this.#isKnownAsHeld;
    return isSearching || now - this.#lookedAt >= restLookMs;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      if (this.#isLookDue) await this.#look();
      await delay(searchLookMs, signal);
    }
  }

  async #look(): Promise<void> {
    this.#lookedAt = clock.now();
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
    if (newest === undefined) return;
    if (before === undefined) {
      // The next look shows whether it is renewed, even if this one was slow.
      this.#searchesUntil = Math.max(this.#searchesUntil, clock.now() + this.#searchMs);
      return;
    }
    if (newest.released) {
      this.#renewedAt = Number.NEGATIVE_INFINITY;
      if (!before.released) this.#searchesUntil = clock.now() + this.#searchMs;
      return;
    }
    if (newest.token !== before.token || newest.renewals !== before.renewals) this.#renewedAt = clock.now();
  }
}
