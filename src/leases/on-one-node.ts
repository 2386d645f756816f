import { restarting } from '#shared/async/restarting.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { LeaseStore } from './lease-store.ts';
import { type UnderLeaseOptions, underLease } from './under-lease.ts';

export interface OnOneNodeOptions extends Pick<UnderLeaseOptions, 'name' | 'signal' | 'work'> {
  /** Where nodes agree on which one works; null where this process is the only one. */
  readonly leases: LeaseStore | null;
  /** This node, as its lease shows it. */
  readonly node: string;
  readonly log: Logger;
  /** What the log says when the work has failed under its lease. */
  readonly failureMessage: string;
}

/**
 * Runs work that one node at a time does, until a signal aborts: under a lease, where it is started again after a failure,
 * or at once with the token 0 where there is one process.
 * @throws what the work throws where there is one process
 */
export function onOneNode(options: OnOneNodeOptions): Promise<void> {
  const { name, leases, node: holder, log, signal, work, failureMessage: message } = options;
  if (leases === null) return work(0, signal, () => true);
  return restarting(() => underLease({ name, holder, leases, log, signal, work }), { log, signal, message });
}
