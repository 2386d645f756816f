import type { EventStore, RecordedEvent } from './event-store.ts';

/**
 * What tells a log from others: its first event and where that stands. Moved to another store the same events have
 * other positions, and a place in the one says nothing of the other.
 */
export function identityByFirst({ position, id }: Pick<RecordedEvent, 'position' | 'id'>): string {
  return `${position}/${id}`;
}

/** The log's identity, waited for while the log is empty; null once the signal aborts. @throws UnavailableError */
export async function identityOfLog(store: Pick<EventStore, 'subscribe'>, signal: AbortSignal): Promise<string | null> {
  for await (const { events } of store.subscribe({ after: 0, batchSize: 1, signal })) {
    const [first] = events;
    if (first !== undefined) return identityByFirst(first);
  }
  return null;
}
