import { UnavailableError } from '#shared/errors/unavailable-error.ts';
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
