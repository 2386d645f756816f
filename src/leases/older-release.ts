import { BackOff } from '#shared/async/retrying.ts';
import { abortable } from '#shared/async/timed-waits.ts';
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

/** How long no term may be held, after one was. Longer than a node takes to begin a term that another has released. */
const freeForMs = 1_000;
const retryLimits = { firstMs: defaultLeaseLimits.lookIntervalMs, maxMs: 1000 };

/**
 * The nodes of the release before that still run next to this node. They do the same work under leases of their own, so
 * this release waits for their end before it takes the work over.
 */
export class OlderRelease {
  readonly #options: OlderReleaseOptions;
  readonly #clock: Clock;
  readonly #outage: OutageLog;
  #nodes: ReadonlyArray<string> = [];
  /** The wait that looks; null while none runs. */
  #waiting: Promise<boolean> | null = null;

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
   * not renewed it for the time of its expiry. After a held term, none may be held for a second, because a second node
   * may take over from one that stops. Terms that have expired are then marked as released, so that later calls need not
   * watch them for that time. Calls that run at the same time share the looks.
   * @returns when none is held, or after the signal has aborted
   */
  async wait(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (await abortable(signal, () => this.#shared(signal))) return;
        // The call that looked was aborted, and this one looks from now on.
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  #shared(signal: AbortSignal): Promise<boolean> {
    this.#waiting ??= this.#wait(signal).finally(() => {
      this.#waiting = null;
    });
    return this.#waiting;
  }

  /** @returns false if the signal has aborted first */
  async #wait(signal: AbortSignal): Promise<boolean> {
    const backOff = new BackOff(retryLimits, () => this.#clock.random());
    const watched = new WatchedTerms();
    /** Since when no term is held; null while one is. */
    let freeSince: number | null = Number.NEGATIVE_INFINITY;
    try {
      while (!signal.aborted) {
        try {
          const terms = await this.#look(signal);
          backOff.succeeded();
          freeSince = isHeld(terms) ? null : (freeSince ?? this.#clock.now());
          if (freeSince === null) this.#report(watched.aliveIn(terms));
          else if (this.#clock.now() - freeSince >= freeForMs) return await this.#end(terms);
        } catch (error) {
          this.#failed(error, signal);
          await this.#clock.pause(backOff.failed(), signal);
        }
      }
      return false;
    } finally {
      this.#nodes = [];
    }
  }

  async #end(terms: ReadonlyMap<string, ObservedTerm>): Promise<boolean> {
    await this.#releaseExpired(terms);
    this.#report([]);
    return true;
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (!(error instanceof UnavailableError)) throw error;
    this.#outage.failed(error);
  }

  async #look(signal: AbortSignal): Promise<ReadonlyMap<string, ObservedTerm>> {
    const { leases, isOlder } = this.#options;
    const terms = await abortable(signal, () => leases.look());
    this.#outage.succeeded();
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

const isHeld = (terms: ReadonlyMap<string, ObservedTerm>) => [...terms.values()].some(({ isOver }) => !isOver);

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
