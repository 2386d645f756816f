import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Log } from '#shared/logging/read-store-log.ts';
import { BackOff } from './back-off.ts';
import { delay } from './delay.ts';

const retryLimits = { firstMs: 20, longestMs: 5000 };

/** What a call of a store needs to be tried until it succeeds. */
export interface Retrying {
  readonly log: Log;
  /** Ends the waiting: the last failure is thrown then. */
  readonly signal: AbortSignal;
}

/**
 * Calls a store until it is no longer unavailable, waiting longer each time (5 s at most).
 * @param what named in the log when it fails
 * @throws what `call` throws other than UnavailableError; Unavailable once the signal has aborted
 */
export async function retrying<Result>(what: string, call: () => Promise<Result>, by: Retrying): Promise<Result> {
  const backOff = new BackOff(retryLimits);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof UnavailableError) || by.signal.aborted) throw error;
      const retryMilliseconds = backOff.failed();
      by.log.warn({ error: error.message, retryMilliseconds }, `${what} failed and is tried again`);
      await delay(retryMilliseconds, by.signal);
    }
  }
}
