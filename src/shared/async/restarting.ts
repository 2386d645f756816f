import type { Logger } from '#shared/logging/logger.ts';
import { delay } from './delay.ts';

/** The pause after an unexpected failure: a bug, or an unknown failure of a store. */
const restartMs = 5_000;

export interface RestartOptions {
  readonly log: Pick<Logger, 'error'>;
  /** Ends the restarts, after the work has ended. */
  readonly signal: AbortSignal;
  /** The log message of a failure. */
  readonly message: string;
}

/** Runs work that lasts until a signal aborts, and restarts it 5 s after a failure. Never rejects. */
export async function restarting(work: () => Promise<void>, { log, signal, message }: RestartOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, message);
      await delay(restartMs, signal);
    }
  }
}
