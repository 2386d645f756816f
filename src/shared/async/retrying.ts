import { levelOf, PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { BackOff } from './back-off.ts';
import { delay } from './delay.ts';

const retryLimits = { firstMs: 20, maxMs: 1000 };

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
 * Calls a store until it is not unavailable any more. It waits longer after each failure, up to 1 s. It logs the first
 * failure, and the success after failures.
 * @param what the name of the call in the log
 * @throws what `call` throws other than UnavailableError; UnavailableError after the signal has aborted
 */
export async function retrying<Result>(what: string, call: () => Promise<Result>, by: RetryOptions): Promise<Result> {
  const backOff = new BackOff(retryLimits);
  for (let failures = 0; ; failures += 1) {
    try {
      const result = await call();
      if (failures > 0) by.log.info({ failures }, `${what} has succeeded`);
      return result;
    } catch (error) {
      if (!(error instanceof UnavailableError) || by.signal.aborted) throw error;
      if (error instanceof PermanentlyUnavailableError && by.throwsPermanent === true) throw error;
      if (failures === 0) by.log[levelOf(error)]({ error: error.message }, `${what} failed and is tried again`);
      await delay(backOff.failed(), by.signal);
    }
  }
}
