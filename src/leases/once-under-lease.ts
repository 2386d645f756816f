import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Leases } from './leases.ts';
import { type UnderLeaseOptions, underLease } from './under-lease.ts';

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
  let timer: NodeJS.Timeout | undefined;
  const limitWait = () => {
    timer = setTimeout(() => ended.abort(), timeoutMs);
  };
  limitWait();
  const done: Result[] = [];
  try {
    await underLease({
      ...lease,
      signal: AbortSignal.any([signal, ended.signal]),
      work: async (_token, workSignal) => {
        clearTimeout(timer);
        // Then the lease is lost, and this node waits again.
        workSignal.addEventListener('abort', limitWait, { once: true });
        done.push(await work(workSignal));
        ended.abort();
      },
    });
  } finally {
    // The end of the work aborts its signal, too.
    clearTimeout(timer);
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
