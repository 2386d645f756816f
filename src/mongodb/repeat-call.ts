import { backOffMs } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';

/** The pauses after the second and later failures in a row. */
const pauses = { firstMs: 20, maxMs: 1000 };
/** How long a call is repeated: a little longer than an election takes. */
const maxRepeatedMs = 12_000;

const never = new AbortController().signal;

/**
 * Makes a call until the server answers it, because a failed call may have been executed or not. Repeats it at once
 * after the first failure, because most failures concern a single connection, and then with pauses.
 * @param call must be harmless when it is executed several times
 * @param signal ends the repetition. Default: it never ends early
 * @throws UnavailableError after 12 s, or when the signal has aborted; any other error of the call
 */
export async function repeatCall<Result>(call: () => Promise<Result>, signal: AbortSignal = never): Promise<Result> {
  const began = performance.now();
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      const isPassing = error instanceof UnavailableError && !(error instanceof PermanentlyUnavailableError);
      if (!isPassing || signal.aborted || performance.now() - began > maxRepeatedMs) throw error;
      if (failures > 0) await delay(backOffMs(failures, pauses, Math.random()), signal);
    }
  }
}
