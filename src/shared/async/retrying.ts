import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { BackOff } from './back-off.ts';
import { delay } from './delay.ts';

const retryLimits = { firstMs: 20, maxMs: 5000 };

/** The options of a retried call. */
export interface RetryOptions {
  readonly log: Logger;
  /** Ends the retries. Then the last failure is thrown. */
  readonly signal: AbortSignal;
  /**
   * Whether a failure that waiting does not cure is thrown at once, as a start needs it. Default: it is retried too.
   */
  readonly throwsPermanent?: boolean;
}

/**
 * Calls a store until it is not unavailable any more. It waits longer after each failure, up to 5 s.
 * @param what the name of the call in the log
 * @throws what `call` throws other than UnavailableError; UnavailableError after the signal has aborted
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
