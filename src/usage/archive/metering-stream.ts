import { usageStreamKind } from '#domain/stream-kinds.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import { clock } from '#shared/clock.ts';

/** Reads of the embedded store are cheapest in steps of its index entries. */
const pageEvents = 64;

const namePattern = new RegExp(`^${usageStreamKind}-(\\d{4}-\\d{2}-\\d{2})-`);

export const meteringPrefix = `${usageStreamKind}-`;

/** The day; null for a stream of another kind. */
export function dayOfStream(stream: string): string | null {
  return namePattern.exec(stream)?.[1] ?? null;
}

/**
 * A stream's events as stored, in order, read in turns of the event loop.
 * @throws UnavailableError; the signal's reason
 */
export async function* storedEventsOf(
  store: Pick<StreamRemoval, 'readRaw'>,
  stream: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent, void, void> {
  for (let next = from; ; ) {
    signal.throwIfAborted();
    const page = await store.readRaw(stream, next, pageEvents);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    next = last.revision + 1;
    await clock.nextTurn();
  }
}
