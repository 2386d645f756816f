import assert from 'node:assert/strict';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { DocumentBuffer } from '#projection-engine/document-buffer.ts';
import { type AnyProjection, eventTypesOf } from '#projection-engine/projection.ts';
import type { DocumentValue } from '#read-store/read-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { recorded, type ToldEvent } from './recorded-events.ts';

/** An event as a test names it; the stream's revision and the position follow from its place. */
export interface ProjectedEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: object;
  readonly metadata?: Partial<EventMetadata>;
}

/** The documents that a projection has made. */
export interface ProjectedDocuments {
  /** Every document there is, by id. */
  readonly documents: Readonly<Record<string, DocumentValue>>;
  /** Asserts that these are the documents, and no others. */
  then(expected: Readonly<Record<string, DocumentValue>>): void;
}

/**
 * The harness for projections: `givenEvents(...events).project(flows).then({ …documents by id })`. Events are folded as the runner folds
 * them; positions count up from 1, and times by a second from 2026-01-01T00:00:00.000Z.
 */
export function givenEvents(...events: ReadonlyArray<ProjectedEvent>) {
  const revisions = new Map<string, number>();
  const recorded = events.map((event, index) => {
    const revision = revisions.get(event.stream) ?? 0;
    revisions.set(event.stream, revision + 1);
    return recordedAt(event, index, revision);
  });
  return { project: (projection: AnyProjection) => projected(projection, recorded) };
}

/** The documents that a projection makes of streams, one stream after the other, the events of each a second apart. */
export function projectStreams(
  projection: AnyProjection,
  streams: Readonly<Record<string, ReadonlyArray<ToldEvent>>>,
): Readonly<Record<string, DocumentValue>> {
  const events = Object.entries(streams).flatMap(([stream, told]) => recorded(stream, told));
  return givenEvents(...events).project(projection).documents;
}

function recordedAt({ stream, type, data, metadata }: ProjectedEvent, index: number, revision: number): RecordedEvent {
  const time = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  return {
    position: index + 1,
    stream,
    revision,
    id: `event-${index + 1}`,
    type,
    data: data as JsonObject,
    metadata: { ...testMetadata, time, ...metadata },
  };
}

function projected(projection: AnyProjection, events: ReadonlyArray<RecordedEvent>): ProjectedDocuments {
  const fold = new DocumentBuffer(projection, {
    maxDocuments: Number.MAX_SAFE_INTEGER,
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  const types = eventTypesOf(projection);
  for (const event of events.filter(({ type }) => types.includes(type))) {
    const keys = fold.keys(event);
    for (const key of keys) if (!fold.knows(key)) fold.remember(key, null);
    fold.apply(event, keys);
  }
  const documents: Record<string, DocumentValue> = {};
  // What is stored is JSON: what does not survive it must not be expected.
  for (const write of fold.writes()) if (write.kind === 'put') documents[write.id] = JSON.parse(write.body);
  // biome-ignore lint/suspicious/noThenProperty: given, project, then: the sentence that every test here is.
  return { documents, then: (expected) => assert.deepEqual(documents, expected) };
}
