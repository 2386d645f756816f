import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { LeaseStore } from './lease-store.ts';
import { onceUnderLease } from './once-under-lease.ts';

export interface ExclusiveTurnsOptions {
  /** The name of the lease. */
  readonly name: string;
  /** Where nodes agree on which one works; null where this process is the only one. */
  readonly leases: LeaseStore | null;
  /** This node, as its lease shows it. */
  readonly node: string;
  /** How long to wait for another node. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** Work that is asked for now and then, and of which one piece at a time is done on all nodes. */
export class ExclusiveTurns {
  readonly #options: ExclusiveTurnsOptions;
  readonly #stopping = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ExclusiveTurnsOptions) {
    this.#options = options;
  }

  /**
   * Does a piece of work when its turn comes.
   * @throws UnavailableError when another node works for too long, or this one stops; what the work throws
   */
  run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(() => this.#work(work));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Cuts off what is being done, and does nothing more. */
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
