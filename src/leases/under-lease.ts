import { BackOff } from '#shared/async/retrying.ts';
import { abortable } from '#shared/async/timed-waits.ts';
import { clock, type Timer } from '#shared/clock.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { defaultLeaseLimits, type LeaseLimits, type Leases } from './leases.ts';

export interface UnderLeaseOptions {
  /** The name of the lease. */
  readonly name: string;
  /** The name of this node in the term and in logs. */
  readonly holder: string;
  readonly leases: Leases;
  readonly log: Logger;
  /** Ends the work. */
  readonly signal: AbortSignal;
  /**
   * The work that one node at a time does, until its signal aborts. The stores refuse its writes after they have seen a
   * newer token, because a frozen node cannot know that another node has taken over its lease. `isHeld` looks at this
   * node's clock: after a freeze it knows that the term has lapsed before the signal aborts.
   */
  readonly work: (token: number, signal: AbortSignal, isHeld: () => boolean) => Promise<void>;
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
 * Runs work while this node holds a lease, until a signal aborts. Then it waits until the work has ended and releases
 * the lease, so that another node takes over at once. It waits for a store that cannot be reached.
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
    // It also ends what work that has failed leaves behind.
    const workSignal = AbortSignal.any([signal, lost.signal, ended.signal]);
    log.info({ lease: name, holder, token }, 'This node holds the lease');
    try {
      if (!workSignal.aborted) await work(token, workSignal, isHeld);
      if (!workSignal.aborted) throw new Error(`The work under the lease ${name} ended unexpectedly.`);
    } catch (error) {
      if (!(error instanceof FencedError || workSignal.aborted)) throw error;
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

export interface OnceUnderLeaseOptions extends Omit<UnderLeaseOptions, 'work'> {
  /** How long to wait for another holder. */
  readonly timeoutMs: number;
}

/**
 * Does work once while this node holds a lease, and releases the lease. If the lease is lost meanwhile, the work is
 * repeated under the next term.
 * @throws UnavailableError if another node holds the lease for too long, or if the signal aborts; what the work throws
 */
export async function onceUnderLease<Result>(
  { timeoutMs, signal, ...lease }: OnceUnderLeaseOptions,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  let timer: Timer | undefined;
  const limitWait = () => {
    timer = clock.setTimeout(() => ended.abort(), timeoutMs);
  };
  limitWait();
  const done: Result[] = [];
  try {
    await underLease({
      ...lease,
      signal: AbortSignal.any([signal, ended.signal]),
      work: async (_token, workSignal) => {
        clock.clearTimeout(timer);
        // Then the lease is lost, and this node waits again.
        workSignal.addEventListener('abort', limitWait, { once: true });
        done.push(await work(workSignal));
        ended.abort();
      },
    });
  } finally {
    // The end of the work aborts its signal, too.
    clock.clearTimeout(timer);
  }
  const [result] = done;
  if (done.length === 0) throw new UnavailableError(`Another node holds the lease ${lease.name}.`);
  return result as Result;
}

export interface ExclusiveTurnsOptions {
  /** The name of the lease. */
  readonly name: string;
  /** The leases by which nodes choose one; null if this process is the only one. */
  readonly leases: Leases | null;
  /** The name of this node in its lease. */
  readonly node: string;
  /** How long to wait for another node. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** Runs occasional work, one piece at a time across all nodes. */
export class ExclusiveTurns {
  readonly #options: ExclusiveTurnsOptions;
  readonly #stopping = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ExclusiveTurnsOptions) {
    this.#options = options;
  }

  /**
   * Runs a piece of work when its turn comes.
   * @throws UnavailableError if another node works for too long, or if this one stops; what the work throws
   */
  run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(() => this.#work(work));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Aborts the running work, and refuses further work. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#last;
  }

  async #work<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { name, leases, node: holder, timeoutMs, log } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted) throw new UnavailableError('The service is stopping.');
    if (leases === null) return work(signal);
    return onceUnderLease({ name, holder, leases, log, signal, timeoutMs }, work);
  }
}
