import { randomUUID } from 'node:crypto';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { EventBatch, EventStore, RecordedEvent, StreamPart, SubscribeOptions } from '#event-store/event-store.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** An event of a test, before it is recorded. */
export interface GivenEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: JsonObject;
}

const positionStep = 3;

/** A log in memory, for tests of subscribers. Positions have gaps, as in real stores. */
export class InMemoryEventStore implements Pick<EventStore, 'subscribe' | 'read' | 'lastPosition'> {
  readonly #events: RecordedEvent[] = [];
  #listeners: (() => void)[] = [];
  readonly #revisions = new Map<string, number>();
  /** The number of subscriptions so far. */
  subscriptions = 0;

  /** Appends events. @returns the recorded events */
  append(...given: ReadonlyArray<GivenEvent>): ReadonlyArray<RecordedEvent> {
    const recorded = given.map((event, index) => this.#recorded(event, index));
    for (const event of recorded) this.#events.push(event);
    for (const wake of this.#listeners.splice(0)) wake();
    return recorded;
  }

  get events(): ReadonlyArray<RecordedEvent> {
    return this.#events;
  }

  async read(stream: string, fromRevision: number): Promise<StreamPart> {
    const events = this.#events.filter((event) => event.stream === stream && event.revision >= fromRevision);
    return { events, characters: 0, isEnd: true };
  }

  async lastPosition(): Promise<number> {
    return this.#events.at(-1)?.position ?? 0;
  }

  async *subscribe({
    after,
    types,
    exceptTypes = [],
    batchSize = 1000,
    signal,
  }: SubscribeOptions): AsyncIterable<EventBatch> {
    this.subscriptions += 1;
    let position = after;
    let isCaughtUpSent = false;
    while (!signal.aborted) {
      const next = Math.floor(position / positionStep);
      const unseen = this.#events.slice(next, next + batchSize);
      if (unseen.length === 0 && isCaughtUpSent) {
        await this.#grown(signal);
        continue;
      }
      position = unseen.at(-1)?.position ?? position;
      isCaughtUpSent = position >= (this.#events.at(-1)?.position ?? 0);
      const isWanted = (type: string) => types?.includes(type) ?? !exceptTypes.includes(type);
      const events = unseen.filter(({ type }) => isWanted(type));
      yield { events, position, caughtUp: isCaughtUpSent };
    }
  }

  #grown(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#listeners.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  #recorded({ stream, type, data }: GivenEvent, index: number): RecordedEvent {
    const number = this.#events.length + index + 1;
    const revision = this.#revisions.get(stream) ?? 0;
    this.#revisions.set(stream, revision + 1);
    return { position: number * positionStep, stream, revision, id: randomUUID(), type, data, metadata: testMetadata };
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
