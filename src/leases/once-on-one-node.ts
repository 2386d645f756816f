import { clock, type Timer } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Leases } from './leases.ts';
import { runTerm, type Term, type TermWork } from './term.ts';
import { type UnderLeaseOptions, underLease } from './under-lease.ts';

export interface OnceOnOneNodeOptions extends Pick<UnderLeaseOptions, 'name' | 'ended' | 'limits'> {
  /** Null if this process is the only one. */
  readonly leases: Leases | null;
  readonly node: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The limit of the wait for another node. */
  readonly timeoutMs: number;
}

export type WorkInTurn<Result> = (term: Term) => Promise<Result>;

/**
 * Does work once, on one node at a time. If its lease is lost meanwhile, the work is repeated under the next term. The
 * late result of work that was left is ignored.
 * @throws UnavailableError if another node holds the lease for too long, or if the signal aborts and the work is left;
 *   what the work throws
 */
export async function onceOnOneNode<Result>(options: OnceOnOneNodeOptions, work: WorkInTurn<Result>): Promise<Result> {
  const { name, leases, log } = options;
  const done = new AbortController();
  const results: Result[] = [];
  const signal = AbortSignal.any([options.signal, done.signal]);
  const doOnce: TermWork = async (term) => {
    const finish = term.guard((result: Result) => {
      results.push(result);
      done.abort();
    });
    finish(await work(term));
  };
  if (leases === null) await runTerm({ name, token: 0, signal, isHeld: () => true, log }, doOnce);
  else {
    using wait = new LimitedWait(options.timeoutMs, done);
    const waited = wait.around(doOnce);
    await underLease({ ...options, holder: options.node, leases, signal, work: waited });
  }
  const [result] = results;
  if (results.length === 0) throw new UnavailableError(`No turn of ${name} has come to its end on this node in time.`);
  return result as Result;
}

/** Ends the wait for a lease after a limit. The wait begins again whenever a term ends before the work. */
class LimitedWait implements Disposable {
  readonly #limitMs: number;
  readonly #done: AbortController;
  #timer: Timer | null = null;

  constructor(limitMs: number, done: AbortController) {
    this.#limitMs = limitMs;
    this.#done = done;
    this.#begin();
  }

  around(work: TermWork): TermWork {
    return async (term) => {
      clock.clearTimeout(this.#timer);
      term.signal.addEventListener('abort', () => this.#begin(), { once: true });
      await work(term);
    };
  }

  [Symbol.dispose](): void {
    clock.clearTimeout(this.#timer);
  }

  #begin(): void {
    if (!this.#done.signal.aborted) this.#timer = clock.setTimeout(() => this.#done.abort(), this.#limitMs);
  }
}
