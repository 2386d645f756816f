import assert from 'node:assert/strict';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { foldInMemory } from '#projection-engine/documents/fold-in-memory.ts';
import type { AnyProjection } from '#projection-engine/projection.ts';
import type { DocumentValue } from '#read-store/read-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { type ExampleEvent, recorded } from './recorded-events.ts';

/** An event of a test. Its revision and position follow from its order. */
export interface ProjectedEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: object;
  readonly metadata?: Partial<EventMetadata>;
}

/** The documents of a projection. */
export interface ProjectedDocuments {
  /** All documents by id. */
  readonly documents: Readonly<Record<string, DocumentValue>>;
  /** Asserts that these are all documents. */
  then(expected: Readonly<Record<string, DocumentValue>>): void;
}

/**
 * The harness for projections: `givenEvents(...events).project(flows).then({ …documents by id })`. Events are folded as
 * by the runner. Positions count from 1; times begin at 2026-01-01T00:00:00.000Z and advance by a second.
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

/** Returns the documents that a projection makes of streams, one after the other. The events of each are a second apart. */
export function projectStreams(
  projection: AnyProjection,
  streams: Readonly<Record<string, ReadonlyArray<ExampleEvent>>>,
): Readonly<Record<string, DocumentValue>> {
  const events = Object.entries(streams).flatMap(([stream, inStream]) => recorded(stream, inStream));
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
  const documents = foldInMemory(projection, events);
  // biome-ignore lint/suspicious/noThenProperty: tests read as given, project, then.
  return { documents, then: (expected) => assert.deepEqual(documents, expected) };
}
