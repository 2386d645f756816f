import { BackOff } from '#shared/async/retrying.ts';
import { abortable, delay, withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import { KeptTerm } from './kept-term.ts';
import { defaultLeaseLimits, type LeaseLimits, type Leases } from './leases.ts';
import { runTerm, type TermWork } from './term.ts';

/** The last term of a node whose work has ended. */
export interface EndedTerm {
  /** 0 without one. */
  token: number;
}

export interface UnderLeaseOptions {
  readonly name: string;
  /** The name of this node in logs, too. */
  readonly holder: string;
  readonly leases: Leases;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly work: TermWork;
  /** Remembers across calls which term of this node is over. */
  readonly ended?: EndedTerm;
  /** Default: those of `defaultLeaseLimits`. */
  readonly limits?: Partial<LeaseLimits>;
}

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

class Candidate {
  readonly #options: UnderLeaseOptions;
  readonly #limits: LeaseLimits;
  readonly #outage: OutageLog;
  readonly #backOff: BackOff;
  readonly #ended: EndedTerm;

  constructor(options: UnderLeaseOptions) {
    const { log, name, limits } = options;
    this.#options = options;
    this.#ended = options.ended ?? { token: 0 };
    this.#limits = { ...defaultLeaseLimits, ...limits };
    this.#outage = new OutageLog(log, 'The store of leases', { lease: name });
    this.#backOff = new BackOff({ firstMs: this.#limits.lookIntervalMs, maxMs: maxPauseMs });
  }

  /** @returns null if the signal aborts first */
  async obtain(): Promise<KeptTerm | null> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      try {
        const begun = await this.#tryToBegin();
        if (begun !== null) return begun;
        this.#outage.succeeded();
        this.#backOff.succeeded();
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof UnavailableError)) throw error;
        this.#outage.failed(error);
        await delay(this.#backOff.failed(), signal);
      }
    }
    return null;
  }

  /** Waits until it is known that no other node has begun a newer term. */
  async hold(kept: KeptTerm): Promise<void> {
    const { name, holder, log, signal, work } = this.#options;
    const { token } = kept;
    const over = AbortSignal.any([signal, kept.lost]);
    try {
      if (await kept.confirmed(over)) {
        log.info({ lease: name, holder, token }, 'This node holds the lease');
        await runTerm({ name, token, signal: over, isHeld: () => kept.isHeld(), log }, work);
      }
    } catch (error) {
      if (!(error instanceof FencedError || over.aborted)) throw error;
      log.warn({ lease: name, token, error: errorText(error) }, 'The work under the lease was aborted');
    } finally {
      await kept.end();
      this.#ended.token = token;
      await this.#release(kept);
    }
    // A superseded node lets the others look first.
    await delay(this.#limits.lookIntervalMs, signal);
  }

  /** @returns null if the newest term is not over at the next look, or another node was first */
  async #tryToBegin(): Promise<KeptTerm | null> {
    const { leases, name, holder, log, signal } = this.#options;
    const newest = (await abortable(signal, () => leases.look())).get(name);
    // A release may be lost while the store is unavailable.
    const isOver = newest === undefined || newest.isOver || newest.token === this.#ended.token;
    if (!isOver) return null;
    const token = (newest?.token ?? 0) + 1;
    const begunAt = clock.now();
    const expiry = await abortable(signal, () => leases.begin(name, token, holder));
    if (expiry === null) return null;
    return new KeptTerm({ name, token, leases, limits: this.#limits, log, outage: this.#outage }, begunAt, expiry);
  }

  /** Waits for a release, but no longer than the term would last without it. */
  async #release({ token, expiryMs }: KeptTerm): Promise<void> {
    const { leases, name } = this.#options;
    const released = leases.release(name, token).catch((error: unknown) => this.#outage.failed(error));
    await withTimeout(expiryMs, released, undefined);
  }
}
