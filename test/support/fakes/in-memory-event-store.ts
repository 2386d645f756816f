import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { EventBatch, EventStore, RecordedEvent, SubscribeOptions } from '#event-store/event-store.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** An event as a test names it. */
export interface GivenEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: JsonObject;
}

const positionStep = 3;

/** A log in memory, for tests of what follows a log. Positions have gaps, as they may have in every store. */
export class InMemoryEventStore implements Pick<EventStore, 'subscribe' | 'lastPosition'> {
  readonly #events: RecordedEvent[] = [];
  #listeners: (() => void)[] = [];
  readonly #revisions = new Map<string, number>();
  /** How many subscriptions were begun. */
  subscriptions = 0;

  /** Stores events. @returns them as recorded */
  append(...given: ReadonlyArray<GivenEvent>): ReadonlyArray<RecordedEvent> {
    const recorded = given.map((event, index) => this.#recorded(event, index));
    for (const event of recorded) this.#events.push(event);
    for (const wake of this.#listeners.splice(0)) wake();
    return recorded;
  }

  get events(): ReadonlyArray<RecordedEvent> {
    return this.#events;
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
    let toldCaughtUp = false;
    while (!signal.aborted) {
      const next = Math.floor(position / positionStep);
      const unseen = this.#events.slice(next, next + batchSize);
      if (unseen.length === 0 && toldCaughtUp) {
        await this.#grown(signal);
        continue;
      }
      position = unseen.at(-1)?.position ?? position;
      toldCaughtUp = position >= (this.#events.at(-1)?.position ?? 0);
      const isWanted = (type: string) => types?.includes(type) ?? !exceptTypes.includes(type);
      const events = unseen.filter(({ type }) => isWanted(type));
      yield { events, position, caughtUp: toldCaughtUp };
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

/** Metadata for events whose metadata do not matter. */
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

/** Waits until something holds. @throws Error after a minute */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`It did not come to pass: ${what}.`);
    await sleep(2);
  }
}
