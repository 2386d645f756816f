import { BackOff } from '#shared/async/retrying.ts';
import { abortable } from '#shared/async/timed-waits.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { defaultLeaseLimits, type LeaseLimits, type Leases } from './leases.ts';
import { runTerm, type TermWork } from './term.ts';

export interface UnderLeaseOptions {
  /** The name of the lease. */
  readonly name: string;
  /** The name of this node in the term and in logs. */
  readonly holder: string;
  readonly leases: Leases;
  readonly log: Logger;
  /** Ends the work. */
  readonly signal: AbortSignal;
  readonly work: TermWork;
  /** Those of `leases`. Default: those of `defaultLeaseLimits`. */
  readonly limits?: Partial<LeaseLimits>;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

/**
 * The share of the expiry after which the holder itself gives up. Its work must have ended when other nodes see the
 * term as over.
 */
const holderShare = 0.8;
const maxPauseMs = 1000;

/**
 * Runs work while this node holds a lease, until a signal aborts. Then it waits until the work has ended or was left and
 * releases the lease, so that another node takes over immediately. It waits for a store that cannot be reached.
 * @throws what the work throws, after the lease is released, except `FencedError` and what it throws after its signal
 *   has aborted; Error when the work ends without a reason
 */
export async function underLease(options: UnderLeaseOptions): Promise<void> {
  const node = new Candidate(options);
  while (!options.signal.aborted) {
    const term = await node.obtain();
    if (term !== null) await node.hold(term);
  }
}

/** A term that this node has begun. */
interface OwnTerm {
  readonly token: number;
  readonly begunAt: number;
}

class Candidate {
  readonly #options: UnderLeaseOptions;
  readonly #limits: LeaseLimits;
  readonly #clock: Clock;
  readonly #outage: OutageLog;
  readonly #backOff: BackOff;

  constructor(options: UnderLeaseOptions) {
    const { log, name, limits, clock = monotonicClock } = options;
    this.#options = options;
    this.#limits = { ...defaultLeaseLimits, ...limits };
    this.#clock = clock;
    this.#outage = new OutageLog(log, 'The store of leases', { lease: name });
    const backOff = { firstMs: this.#limits.lookIntervalMs, maxMs: maxPauseMs };
    this.#backOff = new BackOff(backOff, () => clock.random());
  }

  /** Waits until this node has begun a term. @returns null if the signal aborts first */
  async obtain(): Promise<OwnTerm | null> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      try {
        const own = await this.#tryToBegin();
        if (own !== null) return own;
        this.#outage.succeeded();
        this.#backOff.succeeded();
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof UnavailableError)) throw error;
        this.#outage.failed(error);
        await this.#clock.pause(this.#backOff.failed(), signal);
      }
    }
    return null;
  }

  /** Does the work while the term lasts. */
  async hold({ token, begunAt }: OwnTerm): Promise<void> {
    const { name, holder, log, signal, work } = this.#options;
    const ended = new AbortController();
    const lost = new AbortController();
    let renewedAt = begunAt;
    const renewed = (at: number) => {
      renewedAt = Math.max(renewedAt, at);
    };
    const isHeld = () => !lost.signal.aborted && this.#remainingMs(renewedAt) > 0;
    const keeping = this.#keep(token, { renewedAt: () => renewedAt, renewed }, lost, ended.signal);
    const over = AbortSignal.any([signal, lost.signal]);
    log.info({ lease: name, holder, token }, 'This node holds the lease');
    try {
      if (!over.aborted) await runTerm({ name, token, signal: over, isHeld, log }, work);
    } catch (error) {
      if (!(error instanceof FencedError || over.aborted)) throw error;
      log.warn({ lease: name, token, error: errorText(error) }, 'The work under the lease was aborted');
    } finally {
      ended.abort();
      await keeping;
      await this.#release(token);
    }
    // A superseded node lets the others look first.
    await this.#clock.pause(this.#limits.lookIntervalMs, signal);
  }

  /** Begins a term if the newest one is over at the next look. @returns null if it is not, or another node was first */
  async #tryToBegin(): Promise<OwnTerm | null> {
    const { leases, name, holder, signal } = this.#options;
    const newest = (await abortable(signal, () => leases.look())).get(name);
    if (newest?.isOver === false) return null;
    const token = (newest?.token ?? 0) + 1;
    const begunAt = this.#clock.now();
    return (await leases.begin(name, token, holder)) ? { token, begunAt } : null;
  }

  /** Renews a term until the work has ended or the term is lost. */
  async #keep(
    token: number,
    { renewedAt, renewed }: { readonly renewedAt: () => number; readonly renewed: (at: number) => void },
    lost: AbortController,
    ended: AbortSignal,
  ): Promise<void> {
    const over = AbortSignal.any([lost.signal, ended]);
    const lose = (level: 'info' | 'warn', message: string) => {
      this.#options.log[level]({ lease: this.#options.name, token }, message);
      lost.abort();
    };
    const renew = async () => {
      const askedAt = this.#clock.now();
      const answer = await this.#renewed(token, over);
      if (over.aborted) return;
      if (answer === 'over') lose('warn', 'The lease was taken by another node');
      else if (answer === 'renewed') renewed(askedAt);
    };
    const renewOften = async () => {
      for (;;) {
        await this.#clock.pause(this.#limits.renewIntervalMs, over);
        if (over.aborted) return;
        // A missing answer does not delay later attempts.
        void renew();
      }
    };
    const watch = async () => {
      for (;;) {
        const left = this.#remainingMs(renewedAt());
        if (left <= 0) return lose('info', 'The lease could not be renewed in time');
        await this.#clock.pause(left, over);
        if (over.aborted) return;
      }
    };
    await Promise.all([renewOften(), watch()]);
  }

  /** Returns how long a term lasts after its last renewal. Its holder gives up before others see the term as over. */
  #remainingMs(renewedAt: number): number {
    return renewedAt + this.#limits.expireAfterMs * holderShare - this.#clock.now();
  }

  async #renewed(token: number, over: AbortSignal): Promise<'renewed' | 'over' | 'unknown'> {
    try {
      const isNewest = await this.#options.leases.renew(this.#options.name, token);
      this.#outage.succeeded();
      return isNewest ? 'renewed' : 'over';
    } catch (error) {
      // Whatever the error, the term expires unless a later attempt succeeds.
      if (!over.aborted) this.#outage.failed(error);
      return 'unknown';
    }
  }

  /** Waits for a release, but no longer than the term would last without it. */
  async #release(token: number): Promise<void> {
    const { leases, name } = this.#options;
    const waited = new AbortController();
    const released = leases.release(name, token).catch((error: unknown) => this.#outage.failed(error));
    await Promise.race([released, this.#clock.pause(this.#limits.expireAfterMs, waited.signal)]);
    waited.abort();
  }
}
