import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import { delay } from './timed-waits.ts';

export interface RepeatingOptions {
  /** The pause between two times. */
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The store that the work needs, for messages. */
  readonly store: string;
}

/**
 * Repeats the work until the signal aborts. Outages of the store are logged.
 * @throws what the work throws, except `UnavailableError`
 */
export async function repeating(
  work: () => Promise<void>,
  { intervalMs, signal, log, store }: RepeatingOptions,
): Promise<void> {
  const outage = new OutageLog(log, store);
  for (; !signal.aborted; await delay(intervalMs, signal)) {
    try {
      await work();
      outage.succeeded();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      outage.failed(error);
    }
  }
}
