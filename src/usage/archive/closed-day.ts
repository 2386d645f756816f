import { usageDayStreamKind } from '#domain/stream-kinds.ts';
import type { ClosedUsageStream, HourlyUsageEntry, UsageEvents } from '#domain/usage/events.ts';
import { type EventStore, noStream, type RecordedEvent } from '#event-store/event-store.ts';
import { entryGroupOf } from './hourly-totals.ts';

type Closing = UsageEvents['UsageDayClosed'];

/** @param day `2026-01-05` */
export function usageDayStream(day: string): string {
  return `${usageDayStreamKind}-${day}`;
}

/** @throws UnavailableError, UnreadableEventError */
export async function readClosedDay(store: Pick<EventStore, 'read'>, day: string): Promise<ClosedDay> {
  const stream = usageDayStream(day);
  const closings = new ClosedDay();
  for (let next = 0; ; ) {
    const { events, isEnd } = await store.read(stream, next);
    for (const event of events) closings.add(event);
    if (isEnd) return closings;
    next = (events.at(-1)?.revision ?? next) + 1;
  }
}

/** The counts of a day's closings. A closing that a crash interrupted counts nothing. */
export class ClosedDay {
  revision = noStream;
  hash: string | null = null;
  time: string | null = null;
  relativeAccuracy: number | null = null;
  callsLost = 0;
  /** The streams by name. */
  readonly streams = new Map<string, ClosedUsageStream>();
  /** The entries by key, model and target (`entryGroupOf`). */
  readonly entries = new Map<string, ReadonlyArray<HourlyUsageEntry>>();
  #parts: Closing[] = [];

  add({ revision, metadata, data }: RecordedEvent): void {
    this.revision = revision;
    this.hash = metadata.hash;
    this.time = metadata.time;
    const closing = data as unknown as Closing;
    if (closing.part === 1) this.#parts = [];
    this.#parts.push(closing);
    if (closing.part === closing.parts) this.#complete(closing);
  }

  #complete({ relativeAccuracy, callsLost, streams }: Closing): void {
    this.relativeAccuracy = relativeAccuracy;
    this.callsLost = callsLost;
    for (const stream of streams) this.streams.set(stream.stream, stream);
    for (const { usage } of this.#parts)
      for (const [group, entries] of Map.groupBy(usage, entryGroupOf)) this.entries.set(group, entries);
    this.#parts = [];
  }
}
