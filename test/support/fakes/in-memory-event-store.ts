import { randomUUID } from 'node:crypto';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { EventStore, RecordedEvent, StreamPart } from '#event-store/event-store.ts';
import type { LogPage, LogPageRequest } from '#event-store/log-pages.ts';
import { asStored, ensureReadable, LazyEvent } from '#event-store/recorded-event.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { tailInMemory } from '#test/support/log/tail-of.ts';
import { InMemoryPages } from './in-memory-pages.ts';

/** An event of a test, before it is recorded. */
export interface GivenEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: JsonObject;
}

const positionStep = 3;

/** A log in memory, for tests of followers. Positions have gaps, as in real stores. */
export class InMemoryEventStore implements Pick<EventStore, 'read' | 'lastPosition'> {
  readonly #events: RecordedEvent[] = [];
  readonly #revisions = new Map<string, number>();
  #appended = 0;
  readonly pages = new InMemoryPages(() => this.#events);
  readonly changes = this.pages.changes;
  readonly tail = tailInMemory(this);

  /** Appends events. @returns the recorded events */
  append(...given: ReadonlyArray<GivenEvent>): ReadonlyArray<RecordedEvent> {
    const recorded = given.map((event) => this.#recorded(event));
    for (const event of recorded) this.#events.push(event);
    this.pages.grown();
    return recorded;
  }

  /** Removes the events of a stream before a revision, as a limit on the stream and a scavenge do. */
  scavenge(stream: string, beforeRevision: number): void {
    this.#keep((event) => event.stream !== stream || event.revision >= beforeRevision);
  }

  /** Removes one event, as no server does by itself. */
  lose(eventId: string): void {
    this.#keep(({ id }) => id !== eventId);
  }

  /** Makes the text of an event unreadable. */
  damage(eventId: string): void {
    const index = this.#events.findIndex(({ id }) => id === eventId);
    const event = this.#events[index];
    if (event === undefined) throw new Error(`There is no event ${eventId}.`);
    const { position, stream, revision, id, type } = event;
    const stored = { position, stream, revision, id, type, data: '{', metadata: '{}' };
    this.#events[index] = new LazyEvent(stored, asStored);
  }

  #keep(isKept: (event: RecordedEvent) => boolean): void {
    this.#events.splice(0, this.#events.length, ...this.#events.filter(isKept));
  }

  /** Returns a log with the first events of this one, as a backup of it has them. */
  backup(events: number): InMemoryEventStore {
    const copy = new InMemoryEventStore();
    copy.#events.push(...this.#events.slice(0, events));
    for (const { stream, revision } of copy.#events) copy.#revisions.set(stream, revision + 1);
    copy.#appended = (copy.#events.at(-1)?.position ?? 0) / positionStep;
    return copy;
  }

  get events(): ReadonlyArray<RecordedEvent> {
    return this.#events;
  }

  async read(stream: string, fromRevision: number): Promise<StreamPart> {
    const events = this.#events.filter((event) => event.stream === stream && event.revision >= fromRevision);
    for (const event of events) ensureReadable(event);
    return { events, characters: 0, isEnd: true };
  }

  async lastPosition(): Promise<number> {
    return this.#events.at(-1)?.position ?? 0;
  }

  readPage(request: LogPageRequest): Promise<LogPage> {
    return this.pages.readPage(request);
  }

  eventAt(position: number): Promise<string | null> {
    return this.pages.eventAt(position);
  }

  #recorded({ stream, type, data }: GivenEvent): RecordedEvent {
    this.#appended += 1;
    const revision = this.#revisions.get(stream) ?? 0;
    this.#revisions.set(stream, revision + 1);
    return {
      position: this.#appended * positionStep,
      stream,
      revision,
      id: randomUUID(),
      type,
      data,
      metadata: testMetadata,
    };
  }
}

/** Metadata for tests that do not depend on metadata. */
export const testMetadata: EventMetadata = {
  $correlationId: 'correlation',
  $causationId: 'causation',
  actor: { keyId: 'ckeytest1', keyType: 'admin' },
  requestId: 'request',
  time: '2026-01-01T00:00:00.000Z',
  schemaVersion: 1,
  organizationId: 'corganization1',
  projectId: 'cproject1',
  partnerId: null,
  prevHash: null,
  hash: '0'.repeat(64),
};
