import { pino } from 'pino';
import { writeRealisticLog } from '#bench/logs/realistic-log.ts';
import { streamKinds } from '#domain/stream-kinds.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';

/**
 * Appends a realistic log, in which no process has anything to react to, on a server of any speed.
 * @returns the position of its end
 */
export async function fillLog(url: string, streamPrefix: string, events: number): Promise<number> {
  const retryLimits = { retriesWhenUnavailable: true, answerWithinMs: 120_000, attemptMs: 60_000 };
  const store = openEventStoreDbEventStore({
    url,
    streamPrefix,
    streamKinds,
    log: pino({ level: 'warn' }),
    ...retryLimits,
  });
  try {
    await writeRealisticLog(store, events, 'settled');
    return await store.lastPosition();
  } finally {
    await store.close();
  }
}
