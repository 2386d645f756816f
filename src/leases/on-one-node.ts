import { restarting } from '#shared/async/retrying.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Leases } from './leases.ts';
import { type UnderLeaseOptions, underLease } from './under-lease.ts';

export interface OnOneNodeOptions extends Pick<UnderLeaseOptions, 'name' | 'signal' | 'work'> {
  /** The leases by which nodes choose one; null if this process is the only one. */
  readonly leases: Leases | null;
  /** The name of this node in its lease. */
  readonly node: string;
  readonly log: Logger;
  /** The log message when the work fails. */
  readonly failureMessage: string;
}

/**
 * Runs work on one node at a time, until a signal aborts, and restarts it after a failure. With leases, it runs under
 * one. A single process runs it at once, with the token 0. The signal of the work aborts when the work has ended. Never
 * rejects.
 */
export function onOneNode(options: OnOneNodeOptions): Promise<void> {
  const { name, leases, node: holder, log, signal, work, failureMessage: message } = options;
  const run =
    leases === null ? () => alone(work, signal) : () => underLease({ name, holder, leases, log, signal, work });
  return restarting(run, { log, signal, message });
}

/** Runs work without a lease. Its signal also ends what work that has failed leaves behind. */
async function alone(work: OnOneNodeOptions['work'], signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  try {
    await work(0, AbortSignal.any([signal, ended.signal]), () => true);
  } finally {
    ended.abort();
  }
}
