import { retrying } from '#shared/async/retrying.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** How long a start waits for its stores. Stores on the same machine may be starting too. */
const defaultTimeoutMs = 60_000;

/**
 * Calls a store until it answers.
 * @param variable the variable that configures the store
 * @throws StartupError if it does not answer in time, or if a person must change something
 */
export async function waitForStore<Result>(
  variable: string,
  log: Logger,
  call: () => Promise<Result>,
  timeoutMs = defaultTimeoutMs,
): Promise<Result> {
  try {
    return await retrying(`Reaching the store of ${variable}`, call, {
      log,
      signal: AbortSignal.timeout(timeoutMs),
      throwsPermanent: true,
    });
  } catch (error) {
    if (error instanceof PermanentlyUnavailableError) throw new StartupError(`${variable}: ${error.message}`);
    if (error instanceof UnavailableError) {
      const seconds = timeoutMs / 1000;
      throw new StartupError(
        `${variable}: the store did not answer within ${seconds} s. ${error.message} Check that it runs and that the address is right.`,
      );
    }
    // A server's refusal, or a missing file of an option. Neither message contains an address.
    if (error instanceof Error && 'code' in error) {
      throw new StartupError(`${variable}: the store cannot be used as it is set up. ${error.message}`);
    }
    throw error;
  }
}
