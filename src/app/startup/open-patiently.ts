import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** Minimum time between two log lines about the same failure. */
const sameLineEveryMs = 60_000;

export interface PatienceOptions {
  readonly isStopping: () => boolean;
  readonly onFailed: () => void;
  readonly log: Pick<Logger, 'error'>;
  /** The wait before another try. Default: 5 s. */
  readonly retryMs?: number;
  /** A monotonic clock. Default: the machine's. */
  readonly now?: () => number;
}

/**
 * Tries again after every failure. A server that is being restored may fail in any way.
 * @returns null if the process stops meanwhile
 */
export async function openPatiently<Opened>(
  open: () => Promise<Opened>,
  { isStopping, onFailed, log, retryMs = 5_000, now = () => performance.now() }: PatienceOptions,
): Promise<Opened | null> {
  let last = { line: '', at: Number.NEGATIVE_INFINITY };
  for (; !isStopping(); await sleep(retryMs)) {
    try {
      return await open();
    } catch (error) {
      onFailed();
      const line = String(error);
      if (last.line === line && now() - last.at < sameLineEveryMs) continue;
      last = { line, at: now() };
      const cause = error instanceof StartupError ? { error: error.message } : { err: error };
      log.error({ ...cause, retryMs }, 'The service could not be opened again, and tries again');
    }
  }
  return null;
}
