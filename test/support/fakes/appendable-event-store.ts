import { randomUUID } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import {
  type AppendFailure,
  type AppendResult,
  type EventStore,
  type EventToAppend,
  maxPartCharacters,
  type RecordedEvent,
  type StreamPart,
} from '#event-store/event-store.ts';
import { identityByFirst } from '#event-store/log-identity.ts';
import type { LogPage, LogPageRequest, LogPages } from '#event-store/log-pages.ts';
import { LazyEvent } from '#event-store/recorded-event.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { tailInMemory } from '#test/support/log/tail-of.ts';
import { InMemoryPages } from './in-memory-pages.ts';

/** An append before the store carries it out. */
export interface AppendAttempt {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: ReadonlyArray<EventToAppend>;
  /** The number of this append to the store, from 1. */
  readonly number: number;
}

/**
 * A complete event store in memory, without durability. With `beforeAppend` a test adds concurrent writers, failures
 * and pauses.
 */
export class AppendableEventStore implements EventStore, LogPages {
  readonly log: RecordedEvent[] = [];
  readonly pages = new InMemoryPages(() => this.log);
  readonly changes = this.pages.changes;
  readonly tail = tailInMemory(this);
  /** The stored events, for `verifyChain`. */
  readonly raw: StoredEvent[] = [];
  /** The stream and first revision of each read. */
  readonly reads: Array<readonly [string, number]> = [];
  beforeAppend: (attempt: AppendAttempt) => Promise<AppendFailure | null> = async () => null;
  #attempts = 0;

  async append(
    stream: string,
    expectedRevision: number,
    events: ReadonlyArray<EventToAppend>,
    lastEventId?: string,
  ): Promise<E.Either<AppendFailure, AppendResult>> {
    this.#attempts += 1;
    const refused = await this.beforeAppend({ stream, expectedRevision, events, number: this.#attempts });
    if (refused !== null) return E.left(refused);
    const actualRevision = this.streamOf(stream).length - 1;
    const isExpected = lastEventId === undefined || this.streamOf(stream).at(-1)?.id === lastEventId;
    if (actualRevision !== expectedRevision || !isExpected) return E.left({ kind: 'conflict', actualRevision });
    events.forEach((event, index) => {
      this.#store(stream, expectedRevision + 1 + index, event);
    });
    this.pages.grown();
    return E.right({ revision: expectedRevision + events.length, position: this.#last() });
  }

  /** Returns a store with the first events of this one, as a backup of it has them. */
  backup(events: number): AppendableEventStore {
    const copy = new AppendableEventStore();
    copy.log.push(...this.log.slice(0, events));
    copy.raw.push(...this.raw.slice(0, events));
    return copy;
  }

  /** Stores an event whose data this release cannot read. @returns the event as a follower gets it */
  appendUnreadable(stream: string, type: string): RecordedEvent {
    const revision = this.streamOf(stream).length;
    const position = this.#last() + 3;
    const stored = { position, stream, revision, id: randomUUID(), type, data: '{', metadata: '{}' };
    const event = new LazyEvent(stored, (_type, _version, data) => data);
    this.log.push(event);
    this.pages.grown();
    return event;
  }

  async read(stream: string, fromRevision: number, limit = Number.POSITIVE_INFINITY): Promise<StreamPart> {
    this.reads.push([stream, fromRevision]);
    const events: RecordedEvent[] = [];
    let characters = 0;
    for (const event of this.streamOf(stream).slice(fromRevision, fromRevision + limit)) {
      events.push(event);
      characters += JSON.stringify(event.data).length;
      if (characters > maxPartCharacters) break;
    }
    return { events, characters, isEnd: events.length < limit && characters <= maxPartCharacters };
  }

  readPage(request: LogPageRequest): Promise<LogPage> {
    return this.pages.readPage(request);
  }

  eventAt(position: number): Promise<string | null> {
    return this.pages.eventAt(position);
  }

  async lastPosition(): Promise<number> {
    return this.#last();
  }

  async close(): Promise<void> {}

  /** The log's identity. @throws Error when the log is empty */
  get identity(): string {
    const [first] = this.log;
    if (first === undefined) throw new Error('the log is empty');
    return identityByFirst(first);
  }

  /** Returns a stream's events. */
  streamOf(stream: string): ReadonlyArray<RecordedEvent> {
    return this.log.filter((event) => event.stream === stream);
  }

  /** Returns the types of a stream's events, or of all events. */
  types(stream?: string): ReadonlyArray<string> {
    return (stream === undefined ? this.log : this.streamOf(stream)).map(({ type }) => type);
  }

  #store(stream: string, revision: number, event: EventToAppend): void {
    const { id, type } = event;
    const data = JSON.parse(event.data) as JsonObject;
    const metadata = JSON.parse(event.metadata) as EventMetadata;
    this.raw.push({ stream, revision, ...event });
    // Positions have gaps, as in real stores.
    this.log.push({ position: this.#last() + 3, stream, revision, id, type, data, metadata });
  }

  #last(): number {
    return this.log.at(-1)?.position ?? 0;
  }
}
