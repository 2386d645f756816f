import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { BackOff } from './back-off.ts';
import { delay } from './delay.ts';

const retryLimits = { firstMs: 20, longestMs: 5000 };

/** What a call of a store needs to be tried until it succeeds. */
export interface RetryOptions {
  readonly log: Logger;
  /** Ends the waiting: the last failure is thrown then. */
  readonly signal: AbortSignal;
  /** What waiting does not help is thrown at once, as a start wants it. Default: it is waited for, too. */
  readonly throwsPermanent?: boolean;
}

/**
 * Calls a store until it is no longer unavailable, waiting longer each time (5 s at most).
 * @param what named in the log when it fails
 * @throws what `call` throws other than UnavailableError; Unavailable once the signal has aborted
 */
export async function retrying<Result>(what: string, call: () => Promise<Result>, by: RetryOptions): Promise<Result> {
  const backOff = new BackOff(retryLimits);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof UnavailableError) || by.signal.aborted) throw error;
      if (error instanceof PermanentlyUnavailableError && by.throwsPermanent === true) throw error;
      const retryDelayMs = backOff.failed();
      by.log.warn({ error: error.message, retryDelayMs }, `${what} failed and is tried again`);
      await delay(retryDelayMs, by.signal);
    }
  }
}
