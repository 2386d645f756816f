import { randomUUID } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { EventMetadata } from '#domain/shared/event.ts';
import {
  type Appended,
  type AppendFailure,
  type EventBatch,
  type EventStore,
  type EventToAppend,
  maxPartCharacters,
  type RecordedEvent,
  type StreamPart,
  type SubscribeOptions,
} from '#event-store/event-store.ts';
import type { StoredEvent } from '#event-store/hash-chain.ts';
import { LazyEvent } from '#event-store/lazy-event.ts';
import { identityByFirst } from '#event-store/log-identity.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** An append about to be tried. */
export interface Attempt {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: ReadonlyArray<EventToAppend>;
  /** Counts from 1 over the life of the store. */
  readonly number: number;
}

/**
 * An event store in memory, whole but for durability, for tests of what stands on one. `beforeAppend` lets a test
 * come between: other writers, failures, pauses.
 */
export class AppendableEventStore implements EventStore {
  readonly log: RecordedEvent[] = [];
  /** As stored, for `verifyChain`. */
  readonly raw: StoredEvent[] = [];
  /** Each read: the stream, and from which revision on. */
  readonly reads: Array<readonly [string, number]> = [];
  beforeAppend: (attempt: Attempt) => Promise<AppendFailure | null> = async () => null;
  #attempts = 0;
  #wake: Array<() => void> = [];

  append(stream: string, expectedRevision: number, events: ReadonlyArray<EventToAppend>) {
    return async (): Promise<E.Either<AppendFailure, Appended>> => {
      this.#attempts += 1;
      const refused = await this.beforeAppend({ stream, expectedRevision, events, number: this.#attempts });
      if (refused !== null) return E.left(refused);
      const actualRevision = this.streamOf(stream).length - 1;
      if (actualRevision !== expectedRevision) return E.left({ kind: 'conflict', actualRevision });
      events.forEach((event, index) => {
        this.#store(stream, expectedRevision + 1 + index, event);
      });
      for (const wake of this.#wake.splice(0)) wake();
      return E.right({ revision: expectedRevision + events.length, position: this.#last() });
    };
  }

  /** Stores an event whose data this release cannot read. @returns it as a subscription gives it */
  appendUnreadable(stream: string, type: string): RecordedEvent {
    const revision = this.streamOf(stream).length;
    const position = this.#last() + 3;
    const stored = { position, stream, revision, id: randomUUID(), type, data: '{', metadata: '{}' };
    const event = new LazyEvent(stored, (_type, _version, data) => data);
    this.log.push(event);
    for (const wake of this.#wake.splice(0)) wake();
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

  async *subscribe({ after, types, batchSize = 1000, signal }: SubscribeOptions): AsyncIterable<EventBatch> {
    let position = after;
    let told = false;
    while (!signal.aborted) {
      const unseen = this.log.filter((event) => event.position > position).slice(0, batchSize);
      if (unseen.length === 0 && told) {
        await this.#grown(signal);
        continue;
      }
      position = unseen.at(-1)?.position ?? position;
      told = position >= this.#last();
      const events = types === undefined ? unseen : unseen.filter(({ type }) => types.includes(type));
      yield { events, position, caughtUp: told };
    }
  }

  async lastPosition(): Promise<number> {
    return this.#last();
  }

  async close(): Promise<void> {}

  /** The log's identity, once something was appended. */
  get identity(): string {
    const [first] = this.log;
    if (first === undefined) throw new Error('the log is empty');
    return identityByFirst(first);
  }

  /** A stream's events. */
  streamOf(stream: string): ReadonlyArray<RecordedEvent> {
    return this.log.filter((event) => event.stream === stream);
  }

  /** The types of a stream's events, or of all. */
  types(stream?: string): ReadonlyArray<string> {
    return (stream === undefined ? this.log : this.streamOf(stream)).map(({ type }) => type);
  }

  #store(stream: string, revision: number, event: EventToAppend): void {
    const { id, type } = event;
    const data = JSON.parse(event.data) as JsonObject;
    const metadata = JSON.parse(event.metadata) as EventMetadata;
    this.raw.push({ stream, revision, ...event });
    // Positions have gaps, as they may have in every store.
    this.log.push({ position: this.#last() + 3, stream, revision, id, type, data, metadata });
  }

  #last(): number {
    return this.log.at(-1)?.position ?? 0;
  }

  #grown(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
