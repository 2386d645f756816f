import { createHash } from 'node:crypto';
import { emptyStream, foldStream, type StreamState } from '#application/streams/stream-state.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { tenants } from '#test/support/events/tenants.ts';

/** An event of a test, without its metadata. */
export interface ExampleEvent {
  readonly type: string;
  readonly data: object;
}

/** The time of a stream's first event, in ms since 1970; each next event is a second later. */
export const beginning = Date.UTC(2026, 0, 5, 9, 30);

/** The time of a stream's event at an index, as text. */
export const timeOf = (index: number) => new Date(beginning + index * 1000).toISOString();

/** Returns events as a stream records them, from revision 0 on, a second apart. */
export function recorded(
  stream: string,
  events: ReadonlyArray<ExampleEvent>,
  metadata: Partial<EventMetadata> = {},
): ReadonlyArray<RecordedEvent> {
  const hashes = events.map((_, revision) => createHash('sha256').update(`${stream} ${revision}`).digest('hex'));
  return events.map(({ type, data }, revision) => ({
    position: revision + 1,
    stream,
    revision,
    id: `00000000-0000-4000-8000-${String(revision).padStart(12, '0')}`,
    type,
    data: data as JsonObject,
    metadata: {
      $correlationId: 'request-1',
      $causationId: 'request-1',
      actor: { keyId: 'ckeyadmin0000000', keyType: 'admin' },
      requestId: 'request-1',
      ...tenants.project,
      time: timeOf(revision),
      schemaVersion: 1,
      prevHash: hashes[revision - 1] ?? null,
      hash: hashes[revision] ?? '',
      ...metadata,
    },
  }));
}

/** Folds events of any types into a stream's state. */
export function foldEvents<State, Events>(
  entity: Entity<State, Events>,
  events: ReadonlyArray<ExampleEvent>,
): StreamState<State> {
  return foldStream(entity, emptyStream(entity), recorded(`${entity.category}-example`, events));
}

/** Folds an entity's events into its state. */
export function stateOf<State, Events>(
  entity: Entity<State, Events>,
  ...events: ReadonlyArray<EventOf<NoInfer<Events>>>
): State {
  return foldEvents(entity, events as ReadonlyArray<ExampleEvent>).state;
}
