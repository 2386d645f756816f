import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isKnownEventType } from '#domain/event-codecs.ts';
import { upcasters } from '#domain/upcasters.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { upcastWith } from '#event-store/recorded-event.ts';

/** An event in its newest shape. */
export interface FrozenEvent {
  readonly name: string;
  /** The version of the shape in which it was written. */
  readonly version: number;
  readonly event: RecordedEvent;
}

const upcast = upcastWith(upcasters, isKnownEventType);

/** Reads an event in the newest shape of its type. @throws UpcastError for a shape that this release does not know */
export function readFrozenEvent(text: string, position: number): RecordedEvent {
  const { data, ...event } = JSON.parse(text);
  return { ...event, position, data: upcast(event.type, event.metadata.schemaVersion, data) };
}

/** The folder has a file for each shape of each event. @throws UpcastError */
export function readFrozenLog(folder: string): ReadonlyArray<FrozenEvent> {
  return readdirSync(folder)
    .toSorted()
    .map((name) => {
      const event = readFrozenEvent(readFileSync(join(folder, name), 'utf8'), 0);
      return { name, version: event.metadata.schemaVersion, event };
    });
}

/**
 * Finds the events of a stream up to a frozen one. If a revision has several, the newest shape of the first by name.
 */
export function storyOf(log: ReadonlyArray<FrozenEvent>, last: FrozenEvent): ReadonlyArray<RecordedEvent> {
  const byRevision = new Map<number, FrozenEvent>([[last.event.revision, last]]);
  for (const frozen of log) {
    const { stream, revision, type } = frozen.event;
    if (stream !== last.event.stream || revision >= last.event.revision) continue;
    const other = byRevision.get(revision);
    if (other === undefined || (other.event.type === type && other.version < frozen.version))
      byRevision.set(revision, frozen);
  }
  return [...byRevision.values()]
    .map(({ event }) => event)
    .sort((one, other) => one.revision - other.revision)
    .map((event, index) => ({ ...event, position: index + 1 }));
}
