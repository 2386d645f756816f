import { createHash } from 'node:crypto';
import { emptyStream, foldStream, type StreamState } from '#application/commands/stream-state.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { tenants } from '#test/support/events/tenants.ts';

/** An event as a test tells it. */
export interface ToldEvent {
  readonly type: string;
  readonly data: object;
}

/** When the first event of a told history happened; each next one is a second later. */
export const beginning = Date.UTC(2026, 0, 5, 9, 30);

/** The time of the n-th event of a told history. */
export const timeOf = (index: number) => new Date(beginning + index * 1000).toISOString();

/** Events as one stream holds them, from revision 0 on, a second apart. */
export function recorded(
  stream: string,
  events: ReadonlyArray<ToldEvent>,
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

/** A stream's state after these events, whatever they are. */
export function foldTold<State, Events>(
  entity: Entity<State, Events>,
  events: ReadonlyArray<ToldEvent>,
): StreamState<State> {
  return foldStream(entity, emptyStream(entity), recorded(`${entity.category}-story`, events));
}

/** An entity's state after these events. */
export function stateOf<State, Events>(
  entity: Entity<State, Events>,
  ...events: ReadonlyArray<EventOf<NoInfer<Events>>>
): State {
  return foldTold(entity, events as ReadonlyArray<ToldEvent>).state;
}
