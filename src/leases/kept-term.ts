import { abortable, delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { OutageLog } from '#shared/logging/outage-log.ts';
import { HeldTime } from './held-time.ts';
import type { TermId } from './lease-store.ts';
import type { Expiry, LeaseLimits, Leases } from './leases.ts';

export interface KeptTermOptions extends TermId {
  readonly leases: Leases;
  readonly limits: LeaseLimits;
  readonly log: Logger;
  readonly outage: OutageLog;
}

/** A term that this node has begun. It is renewed until it ends or is lost. */
export class KeptTerm {
  readonly #options: KeptTermOptions;
  readonly #lost = new AbortController();
  readonly #over: AbortSignal;
  readonly #ended = new AbortController();
  readonly #confirmed = Promise.withResolvers<void>();
  readonly #keeping: Promise<unknown>;
  #held: HeldTime;
  #expiry: Expiry;
  #isConfirmed = false;

  /** Renews the term immediately, and then often. It must be ended. @param begunAt the time before the term began */
  constructor(options: KeptTermOptions, begunAt: number, expiry: Expiry) {
    this.#options = options;
    this.#held = new HeldTime({ sentAt: begunAt, expiryMs: expiry.expiryMs });
    this.#expiry = expiry;
    this.#over = AbortSignal.any([this.#lost.signal, this.#ended.signal]);
    this.#keeping = Promise.all([this.#renewOften(), this.#watch()]);
  }

  get token(): number {
    return this.#options.token;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get expiryMs(): number {
    return this.#expiry.expiryMs;
  }

  isHeld(): boolean {
    return !this.#lost.signal.aborted && this.#held.remainingMs(clock.now()) > 0;
  }

  /** Waits until it is known that the term is the newest one. @returns false if a signal aborts first */
  confirmed(signal: AbortSignal): Promise<boolean> {
    return abortable(signal, () => this.#confirmed.promise).then(
      () => true,
      () => false,
    );
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#keeping;
  }

  async #renewOften(): Promise<void> {
    while (!this.#over.aborted) {
      // A missing answer does not delay later attempts.
      void this.#renew();
      await delay(this.#options.limits.renewIntervalMs, this.#over);
    }
  }

  async #renew(): Promise<void> {
    const { leases, name, token, outage } = this.#options;
    const sent = { sentAt: clock.now(), expiryMs: this.#expiry.nextMs };
    this.#held = this.#held.sent(sent);
    try {
      const isFirst = !this.#isConfirmed;
      const expiry = await leases.renew({ name, token, minExpiryMs: sent.expiryMs, isFirst });
      outage.succeeded();
      if (this.#over.aborted) return;
      if (expiry === null) return this.#lose('warn', 'The lease was taken by another node');
      this.#expiry = expiry;
      this.#held = this.#held.acknowledge(sent, expiry.expiryMs, clock.now());
      if (this.#held.remainingMs(clock.now()) <= 0) return;
      this.#isConfirmed = true;
      this.#confirmed.resolve();
    } catch (error) {
      // Whatever the error, the term expires unless a later attempt succeeds.
      if (!this.#over.aborted) outage.failed(error);
    }
  }

  /** Loses the term when it has lapsed. A renewal with a shorter expiry may bring that time forward. */
  async #watch(): Promise<void> {
    while (!this.#over.aborted) {
      const leftMs = this.#held.remainingMs(clock.now());
      if (leftMs <= 0) return this.#lose('info', 'The lease could not be renewed in time');
      await delay(Math.min(leftMs, this.#options.limits.renewIntervalMs), this.#over);
    }
  }

  #lose(level: 'info' | 'warn', message: string): void {
    const { log, name, token } = this.#options;
    log[level]({ lease: name, token }, message);
    this.#lost.abort();
  }
}
