import { abortable } from '#shared/async/abortable.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { defaultLeaseLimits, type Leases, type ObservedTerm } from './leases.ts';

export interface OlderReleaseOptions {
  readonly leases: Leases;
  /** Whether only nodes of the release before take a lease of this name. */
  readonly isOlder: (name: string) => boolean;
  readonly log: Logger;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

const retryLimits = { firstMs: defaultLeaseLimits.lookIntervalMs, maxMs: 1000 };

/**
 * The nodes of the release before that still run beside this node. They do the same work under leases of their own, so
 * this release waits for their end before it takes the work over.
 */
export class OlderRelease {
  readonly #options: OlderReleaseOptions;
  readonly #clock: Clock;
  readonly #outage: OutageLog;
  #nodes: ReadonlyArray<string> = [];

  constructor(options: OlderReleaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
    this.#outage = new OutageLog(options.log, 'The store of leases');
  }

  /** The nodes that `wait` waits for; empty while it does not wait, or has seen no sign of life yet. */
  get nodes(): ReadonlyArray<string> {
    return this.#nodes;
  }

  /**
   * Waits until no node holds a lease of the release before. A term counts as held until its holder releases it, or has
   * not renewed it for the time of its expiry. Terms that have expired are then marked as released, so that later calls
   * need not watch them for that time.
   * @returns when none is held, or after the signal has aborted
   */
  async wait(signal: AbortSignal): Promise<void> {
    const backOff = new BackOff(retryLimits, () => this.#clock.random());
    const watched = new WatchedTerms();
    try {
      while (!signal.aborted) {
        const pauseMs = await this.#check(watched, signal).then(
          (isFree) => {
            backOff.succeeded();
            return isFree ? null : 0;
          },
          (error: unknown) => {
            this.#failed(error, signal);
            return backOff.failed();
          },
        );
        if (pauseMs === null) return;
        await this.#clock.pause(pauseMs, signal);
      }
    } finally {
      this.#nodes = [];
    }
  }

  /** Looks once. @returns whether no term is held */
  async #check(watched: WatchedTerms, signal: AbortSignal): Promise<boolean> {
    const terms = await this.#look(signal);
    const isHeld = [...terms.values()].some(({ isOver }) => !isOver);
    this.#report(watched.aliveIn(terms));
    if (!isHeld) await this.#releaseExpired(terms);
    this.#outage.succeeded();
    return !isHeld;
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (!(error instanceof UnavailableError)) throw error;
    this.#outage.failed(error);
  }

  async #look(signal: AbortSignal): Promise<ReadonlyMap<string, ObservedTerm>> {
    const { leases, isOlder } = this.#options;
    const terms = await abortable(signal, () => leases.look());
    return new Map([...terms].filter(([name]) => isOlder(name)));
  }

  #report(nodes: ReadonlyArray<string>): void {
    const known = this.#nodes;
    const isSame = nodes.length === known.length && nodes.every((node) => known.includes(node));
    if (isSame) return;
    this.#nodes = nodes;
    const { log } = this.#options;
    if (nodes.length === 0) log.info({}, 'No node of the release before holds a lease any more');
    else log.warn({ nodes }, 'Nodes of the release before still run: stop them, this node waits for their end');
  }

  async #releaseExpired(terms: ReadonlyMap<string, ObservedTerm>): Promise<void> {
    const expired = [...terms].filter(([, { released }]) => !released);
    await Promise.all(expired.map(([name, { token }]) => this.#options.leases.release(name, token)));
  }
}

/** The terms of earlier looks, and which leases a live node holds. */
class WatchedTerms {
  #before: ReadonlyMap<string, ObservedTerm> = new Map();
  readonly #alive = new Set<string>();

  /** Returns the holders of terms that are not over and were seen to change, sorted. A dead node changes none. */
  aliveIn(terms: ReadonlyMap<string, ObservedTerm>): ReadonlyArray<string> {
    for (const [name, { token, renewals }] of terms) {
      const before = this.#before.get(name);
      if (before !== undefined && (before.token !== token || before.renewals !== renewals)) this.#alive.add(name);
    }
    this.#before = terms;
    const held = [...terms].filter(([name, { isOver }]) => this.#alive.has(name) && !isOver);
    return [...new Set(held.map(([, { holder }]) => holder))].sort();
  }
}
