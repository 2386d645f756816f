import { restarting } from '#shared/async/restarting.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { LeaseStore } from './lease-store.ts';
import { type UnderLeaseOptions, underLease } from './under-lease.ts';

export interface OnOneNodeOptions extends Pick<UnderLeaseOptions, 'name' | 'signal' | 'work'> {
  /** The leases by which nodes choose one; null if this process is the only one. */
  readonly leases: LeaseStore | null;
  /** The name of this node in its lease. */
  readonly node: string;
  readonly log: Logger;
  /** The log message when the work fails under its lease. */
  readonly failureMessage: string;
}

/**
 * Runs work on one node at a time, until a signal aborts. With leases, it runs under one and is restarted after a
 * failure. A single process runs it at once, with the token 0.
 * @throws what the work throws in a single process
 */
export function onOneNode(options: OnOneNodeOptions): Promise<void> {
  const { name, leases, node: holder, log, signal, work, failureMessage: message } = options;
  if (leases === null) return work(0, signal, () => true);
  return restarting(() => underLease({ name, holder, leases, log, signal, work }), { log, signal, message });
}
