import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';

/** Reads a stream's events from a revision on, in as many parts as the store returns. */
export async function readEvents(
  store: Pick<EventStore, 'read'>,
  stream: string,
  fromRevision: number,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<ReadonlyArray<RecordedEvent>> {
  const all: RecordedEvent[] = [];
  for (;;) {
    const { events, isEnd } = await store.read(stream, fromRevision + all.length, limit - all.length);
    all.push(...events);
    if (isEnd || events.length === 0 || all.length >= limit) return all;
  }
}
