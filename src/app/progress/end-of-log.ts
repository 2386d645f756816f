import type { EventStore } from '#event-store/event-store.ts';
import { withTimeout } from '#shared/async/with-timeout.ts';

const timeoutMs = 1_000;

/** Reads the last position of the log; null while the event store does not answer. */
export function readEndOfLog(events: Pick<EventStore, 'lastPosition'>): Promise<number | null> {
  return withTimeout(timeoutMs, events.lastPosition(), null).catch(() => null);
}
