import type { EventStore, RecordedEvent } from './event-store.ts';

/**
 * Identifies a log by its first event and that event's position. In another store the same events have other positions,
 * so a position in one log means nothing in the other.
 */
export function identityByFirst({ position, id }: Pick<RecordedEvent, 'position' | 'id'>): string {
  return `${position}/${id}`;
}

/**
 * Returns the log's identity, and waits while the log is empty; null once the signal aborts.
 * @throws UnavailableError
 */
export async function identityOfLog(store: Pick<EventStore, 'subscribe'>, signal: AbortSignal): Promise<string | null> {
  for await (const { events } of store.subscribe({ after: 0, batchSize: 1, signal })) {
    const [first] = events;
    if (first !== undefined) return identityByFirst(first);
  }
  return null;
}
