import { restarting } from '#shared/async/retrying.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Leases } from './leases.ts';
import { runTerm } from './term.ts';
import { type UnderLeaseOptions, underLease } from './under-lease.ts';

export interface OnOneNodeOptions extends Pick<UnderLeaseOptions, 'name' | 'signal' | 'work'> {
  /** Null if this process is the only one. */
  readonly leases: Leases | null;
  readonly node: string;
  readonly log: Logger;
  readonly failureMessage: string;
}

/**
 * Runs work on one node at a time, until a signal aborts, and restarts it after a failure. With leases, it runs under
 * one. A single process runs it immediately, with the token 0. The signal of its term aborts when the work has ended.
 * Never rejects.
 */
export function onOneNode(options: OnOneNodeOptions): Promise<void> {
  const { name, leases, node: holder, log, signal, work, failureMessage: message } = options;
  const run =
    leases === null
      ? () => runTerm({ name, token: 0, signal, isHeld: () => true, log }, work)
      : () => underLease({ name, holder, leases, log, signal, work });
  return restarting(run, { log, signal, message });
}
