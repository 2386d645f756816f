import type { Logger } from '#shared/logging/logger.ts';
import { delay } from './delay.ts';

/** After a failure that is a bug, or of a store in a way that nobody knows. */
const restartMs = 5_000;

export interface RestartOptions {
  readonly log: Pick<Logger, 'error'>;
  /** Ends it, when the work has ended. */
  readonly signal: AbortSignal;
  /** What the log says of a failure. */
  readonly message: string;
  /** What the log has of it besides the error. */
  readonly fields?: object;
}

/** Runs work that lasts until a signal aborts, and starts it again 5 s after it has failed. Never rejects. */
export async function restarting(
  work: () => Promise<void>,
  { log, signal, message, fields = {} }: RestartOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      log.error({ err: error, ...fields }, message);
      await delay(restartMs, signal);
    }
  }
}
