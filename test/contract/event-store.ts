import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { EventMetadata } from '#domain/shared/event.ts';
import {
  type AppendFailure,
  type AppendResult,
  defaultMaxAppendBytes,
  type EventBatch,
  type EventStore,
  type EventToAppend,
  noStream,
  type RecordedEvent,
} from '#event-store/event-store.ts';
import type { LogPages } from '#event-store/log-pages.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import { countTurns } from '#test/support/harness/turns.ts';
import { type BatchesOptions, batchesOf, tailOf } from '#test/support/log/tail-of.ts';

/** A store under test, with the default limits and no upcasters. */
export interface OpenedEventStore {
  readonly store: EventStore & LogPages;
  /** Removes the events of a stream before a revision, as something outside of this service does. */
  hideBefore(stream: string, revision: number): Promise<void>;
  /** Closes the store and opens another on the same log. */
  reopen(): Promise<EventStore & LogPages>;
  /** Closes all open stores and removes the log. */
  destroy(): Promise<void>;
}

/** Metadata of a stored event, of which an adapter reads only `schemaVersion`. */
export const someMetadata: EventMetadata = {
  $correlationId: 'correlation',
  $causationId: 'causation',
  actor: { keyId: 'ckey00000', keyType: 'admin' },
  organizationId: 'corg00000',
  projectId: 'cproject0',
  partnerId: null,
  requestId: 'request',
  time: '2026-01-02T03:04:05.678Z',
  schemaVersion: 1,
  prevHash: null,
  hash: '0'.repeat(64),
};

/** Returns an event to store, with a new id. */
export function someEvent(type = 'SomethingHappened', data: JsonObject = { number: 1 }): EventToAppend {
  return { id: randomUUID(), type, data: JSON.stringify(data), metadata: JSON.stringify(someMetadata) };
}

/** Returns events of one type, numbered from 0 in their data. */
export function someEvents(count: number, type = 'SomethingHappened'): EventToAppend[] {
  return Array.from({ length: count }, (_, number) => someEvent(type, { number }));
}

/** Returns a stream name that no other test uses. */
export function someStream(): string {
  return `thing-${randomUUID()}`;
}

const revisionOf = (outcome: E.Either<AppendFailure, AppendResult>) =>
  E.isRight(outcome) ? outcome.right.revision : null;

const refusalOf = (outcome: E.Either<AppendFailure, AppendResult>) => (E.isLeft(outcome) ? outcome.left.kind : null);

/** Appends, and fails the test when the store refuses. */
export async function mustAppend(
  store: EventStore,
  stream: string,
  expectedRevision: number,
  events: ReadonlyArray<EventToAppend>,
): Promise<AppendResult> {
  const outcome = await store.append(stream, expectedRevision, events);
  if (E.isLeft(outcome)) assert.fail(`refused: ${JSON.stringify(outcome.left)}`);
  return outcome.right;
}

/** Appends, and fails the test when the store does not refuse. */
export async function mustRefuse(
  store: EventStore,
  stream: string,
  expectedRevision: number,
  events: ReadonlyArray<EventToAppend>,
): Promise<AppendFailure> {
  const outcome = await store.append(stream, expectedRevision, events);
  if (E.isRight(outcome)) assert.fail(`stored at revision ${outcome.right.revision}`);
  return outcome.left;
}

/** What `collect` follows. */
export type CollectOptions = Omit<BatchesOptions, 'signal'>;

/** Follows a log by a tail of its own until `enough`, then ends both. */
export async function collect(
  pages: LogPages,
  options: CollectOptions,
  enough: (events: ReadonlyArray<RecordedEvent>, batch: EventBatch) => boolean,
): Promise<RecordedEvent[]> {
  const abort = new AbortController();
  const tail = tailOf(pages);
  const events: RecordedEvent[] = [];
  for await (const batch of batchesOf(tail, { ...options, signal: abort.signal })) {
    events.push(...batch.events);
    if (enough(events, batch)) abort.abort();
  }
  await tail.close();
  return events;
}

/** Ends `collect` at the end of the log. */
export const untilCaughtUp = (_events: ReadonlyArray<RecordedEvent>, batch: EventBatch) => batch.caughtUp;
/** Ends `collect` after a number of events. */
export const hasCount = (count: number) => (events: ReadonlyArray<RecordedEvent>) => events.length >= count;
/** Returns the ids of events. */
export const idsOf = (events: ReadonlyArray<{ id: string }>) => events.map(({ id }) => id);

/**
 * Declares the tests of every event store, whichever engine keeps the log.
 * @param open opens a store on a new log
 */
export function eventStoreContract(name: string, open: () => Promise<OpenedEventStore>): void {
  describe(`event store contract: ${name}`, function () {
    this.timeout(60_000);
    let opened: OpenedEventStore;
    let store: EventStore & LogPages;
    let stream: string;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      stream = someStream();
    });

    afterEach(() => opened.destroy());

    describe('EventStore.append', () => {
      it('starts a stream at revision 0', async () => {
        const appended = await mustAppend(store, stream, noStream, [someEvent()]);
        assert.equal(appended.revision, 0);
        assert.ok(appended.position > 0);
      });

      it('returns the revision and the position of the last event', async () => {
        await mustAppend(store, stream, noStream, someEvents(2));
        const appended = await mustAppend(store, stream, 1, someEvents(3));
        const events = await readEvents(store, stream, 0);
        assert.equal(appended.revision, 4);
        assert.equal(appended.position, events[4]?.position);
      });

      it('stores an event unchanged', async () => {
        const data = { text: 'ünïcode \u0000 \ud83d\ude00', nested: { list: [1, null, true, -0.5, 1e21] }, empty: {} };
        const event = someEvent('SomethingElse', data);
        await mustAppend(store, stream, noStream, [event]);
        const [recorded] = await readEvents(store, stream, 0);
        assert.ok(recorded);
        const { position, ...rest } = recorded;
        assert.deepEqual(rest, {
          stream,
          revision: 0,
          id: event.id,
          type: 'SomethingElse',
          data,
          metadata: someMetadata,
        });
        assert.equal(position, await store.lastPosition());
      });

      it('refuses an expected revision that is behind, and stores nothing', async () => {
        await mustAppend(store, stream, noStream, someEvents(2));
        const failure = await mustRefuse(store, stream, 0, [someEvent()]);
        assert.deepEqual(failure, { kind: 'conflict', actualRevision: 1 });
        assert.equal((await readEvents(store, stream, 0)).length, 2);
      });

      it('refuses an expected revision that is ahead', async () => {
        await mustAppend(store, stream, noStream, [someEvent()]);
        assert.deepEqual(await mustRefuse(store, stream, 1, [someEvent()]), { kind: 'conflict', actualRevision: 0 });
      });

      it('refuses to start a stream that exists', async () => {
        await mustAppend(store, stream, noStream, [someEvent()]);
        assert.deepEqual(await mustRefuse(store, stream, noStream, [someEvent()]), {
          kind: 'conflict',
          actualRevision: 0,
        });
      });

      it('refuses to append at a revision of a stream that does not exist', async () => {
        assert.deepEqual(await mustRefuse(store, stream, 0, [someEvent()]), {
          kind: 'conflict',
          actualRevision: noStream,
        });
      });

      it('stores all events of an append or none', async () => {
        await mustAppend(store, stream, noStream, [someEvent()]);
        await mustRefuse(store, stream, noStream, someEvents(5));
        assert.equal((await readEvents(store, stream, 0)).length, 1);
        await mustAppend(store, stream, 0, someEvents(5));
        assert.deepEqual(
          (await readEvents(store, stream, 0)).map(({ revision }) => revision),
          [0, 1, 2, 3, 4, 5],
        );
      });

      it('accepts an append of the maximum size, and refuses a larger one before sending it', async () => {
        const empty = someEvent('Large', { text: '' });
        const overhead = Buffer.byteLength(empty.id + empty.type + empty.data + empty.metadata);
        const sized = (bytes: number) => ({
          ...empty,
          data: JSON.stringify({ text: 'x'.repeat(bytes - overhead) }),
        });
        assert.deepEqual(await mustRefuse(store, stream, noStream, [sized(defaultMaxAppendBytes + 1)]), {
          kind: 'append-too-large',
          bytes: defaultMaxAppendBytes + 1,
          maxBytes: defaultMaxAppendBytes,
        });
        assert.deepEqual(await readEvents(store, stream, 0), []);
        await mustAppend(store, stream, noStream, [sized(defaultMaxAppendBytes)]);
        assert.equal((await readEvents(store, stream, 0)).length, 1);
      });

      it('measures the size of an append in bytes and not in characters', async () => {
        const characters = defaultMaxAppendBytes / 2;
        const failure = await mustRefuse(store, stream, noStream, [
          someEvent('Large', { text: 'é'.repeat(characters) }),
        ]);
        assert.equal(failure.kind, 'append-too-large');
      });
    });

    describe('repeated EventStore.append', () => {
      it('returns the first result for a repeated append', async () => {
        const events = someEvents(3);
        const first = await mustAppend(store, stream, noStream, events);
        assert.deepEqual(await mustAppend(store, stream, noStream, events), first);
        assert.equal((await readEvents(store, stream, 0)).length, 3);
      });

      it('returns the first result for a repeated append after the stream has grown and after a restart', async () => {
        const events = someEvents(2);
        const first = await mustAppend(store, stream, noStream, events);
        await mustAppend(store, stream, 1, [someEvent()]);
        store = await opened.reopen();
        assert.deepEqual(await mustAppend(store, stream, noStream, events), first);
        assert.equal((await readEvents(store, stream, 0)).length, 3);
      });

      it('reports a conflict when a repeated append has more events', async () => {
        const events = someEvents(2);
        await mustAppend(store, stream, noStream, events);
        const failure = await mustRefuse(store, stream, noStream, [...events, someEvent()]);
        assert.deepEqual(failure, { kind: 'conflict', actualRevision: 1 });
      });

      it('reports a conflict when a repeated append has another order', async () => {
        const events = someEvents(2);
        await mustAppend(store, stream, noStream, events);
        const failure = await mustRefuse(store, stream, noStream, events.toReversed());
        assert.deepEqual(failure, { kind: 'conflict', actualRevision: 1 });
      });

      it('reports a conflict when a repeated append has other event ids', async () => {
        await mustAppend(store, stream, noStream, someEvents(2));
        const failure = await mustRefuse(store, stream, noStream, someEvents(2));
        assert.deepEqual(failure, { kind: 'conflict', actualRevision: 1 });
      });
    });

    describe('concurrent EventStore.append', () => {
      it('gives each revision of a stream to exactly one of many writers', async () => {
        const writers = 16;
        const rounds = 8;
        const wins: number[] = [];
        const write = async (writer: number) => {
          let revision = noStream;
          for (let written = 0; written < rounds; ) {
            const outcome = await store.append(stream, revision, [someEvent('Written', { writer, written })]);
            if (E.isRight(outcome)) {
              revision = outcome.right.revision;
              wins.push(revision);
              written += 1;
            } else if (outcome.left.kind === 'conflict') revision = outcome.left.actualRevision;
            else assert.fail(outcome.left.kind);
          }
        };
        await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
        const all = Array.from({ length: writers * rounds }, (_, revision) => revision);
        assert.deepEqual(
          wins.toSorted((a, b) => a - b),
          all,
        );
        assert.deepEqual(
          (await readEvents(store, stream, 0)).map(({ revision }) => revision),
          all,
        );
      });

      it('refuses one of several concurrent appends without affecting the others', async () => {
        await mustAppend(store, stream, noStream, [someEvent()]);
        const outcomes = await Promise.all(
          Array.from({ length: 30 }, (_, index) =>
            store.append(index % 3 === 0 ? stream : someStream(), noStream, [someEvent()]),
          ),
        );
        assert.deepEqual(
          outcomes.map((outcome) => E.isRight(outcome)),
          outcomes.map((_, index) => index % 3 !== 0),
        );
      });
    });

    describe('EventStore.append of events that were decided on unfinished ones', () => {
      /** Appends each event at the revision after the one before, without waiting for its answer. */
      const appendInLine = (stream: string, from: number, events: ReadonlyArray<EventToAppend>, decidedOn?: string) =>
        events.map((event, index) =>
          store.append(stream, from + index, [event], index === 0 ? decidedOn : events[index - 1]?.id),
        );

      it('stores them in their order, each at its revision', async () => {
        const stream = someStream();
        const events = someEvents(40);
        const outcomes = await Promise.all(appendInLine(stream, noStream, events));
        assert.deepEqual(outcomes.map(revisionOf), [...events.keys()]);
        const stored = await readEvents(store, stream, 0);
        assert.deepEqual(
          stored.map(({ id, revision }) => [id, revision]),
          events.map(({ id }, revision) => [id, revision]),
        );
        const positions = outcomes.map((outcome) => (E.isRight(outcome) ? outcome.right.position : 0));
        assert.ok(stored.every(({ position }, index) => position <= (positions[index] ?? 0)));
        assert.equal(positions.at(-1), stored.at(-1)?.position);
      });

      it('stores none of those that were decided on one that conflicts', async () => {
        const stream = someStream();
        await mustAppend(store, stream, noStream, someEvents(2));
        const outcomes = await Promise.all(appendInLine(stream, 0, someEvents(5)));
        assert.deepEqual(outcomes.map(refusalOf), new Array(5).fill('conflict'));
        assert.equal((await readEvents(store, stream, 0)).length, 2);
      });

      it('refuses one whose place was taken by an event that it was not decided on', async () => {
        const stream = someStream();
        await mustAppend(store, stream, noStream, [someEvent()]);
        const [outcome] = await Promise.all(appendInLine(stream, 0, [someEvent()], randomUUID()));
        assert.equal(outcome === undefined ? null : refusalOf(outcome), 'conflict');
      });

      it('lets those wait that come while others are stored, whatever the number of streams', async () => {
        const streams = Array.from({ length: 8 }, () => someStream());
        const outcomes = await Promise.all(streams.flatMap((stream) => appendInLine(stream, noStream, someEvents(20))));
        assert.ok(outcomes.every((outcome) => E.isRight(outcome)));
        for (const stream of streams) assert.equal((await readEvents(store, stream, 0)).length, 20);
      });
    });

    describe('EventStore.read', () => {
      it('returns no events of a stream that does not exist', async () => {
        assert.deepEqual(await readEvents(store, stream, 0), []);
      });

      it('returns the events of a stream in order, from a revision up to a limit', async () => {
        const events = someEvents(10);
        await mustAppend(store, stream, noStream, events);
        await mustAppend(store, someStream(), noStream, someEvents(3));
        assert.deepEqual(idsOf(await readEvents(store, stream, 0)), idsOf(events));
        assert.deepEqual(idsOf(await readEvents(store, stream, 7)), idsOf(events.slice(7)));
        assert.deepEqual(idsOf(await readEvents(store, stream, 2, 3)), idsOf(events.slice(2, 5)));
        assert.deepEqual(idsOf(await readEvents(store, stream, 8, 100)), idsOf(events.slice(8)));
        assert.deepEqual(await readEvents(store, stream, 10), []);
      });

      it('refuses to read a stream that lacks its beginning, and names the revision at which it begins', async () => {
        await mustAppend(store, stream, noStream, someEvents(5));
        await opened.hideBefore(stream, 2);
        const gap = { stream, expectedRevision: 0, foundRevision: 2 };
        await assert.rejects(store.read(stream, 0), { name: 'UnreadableStreamError', gap });
        await assert.rejects(store.read(stream, 0, 1), { name: 'UnreadableStreamError' });
        const fromOne = { stream, expectedRevision: 1, foundRevision: 2 };
        await assert.rejects(store.read(stream, 1, 4), { name: 'UnreadableStreamError', gap: fromOne });
        assert.equal((await readEvents(store, stream, 2)).length, 3);
      });

      it('refuses to read events that are hidden up to the end of their stream', async () => {
        await mustAppend(store, stream, noStream, someEvents(5));
        await mustAppend(store, someStream(), noStream, [someEvent()]);
        await opened.hideBefore(stream, 5);
        for (const expectedRevision of [0, 4]) {
          const gap = { stream, expectedRevision, foundRevision: null };
          await assert.rejects(store.read(stream, expectedRevision), { name: 'UnreadableStreamError', gap });
        }
        assert.deepEqual(await readEvents(store, stream, 5), []);
        assert.deepEqual((await store.read(stream, 0, 0)).events, []);
      });

      it('reads what is left of a stream that may be shortened', async () => {
        const usage = `usage-2026-01-05-${randomUUID()}`;
        await mustAppend(store, usage, noStream, someEvents(100));
        await opened.hideBefore(usage, 40);
        assert.deepEqual(
          (await readEvents(store, usage, 0)).map(({ revision }) => revision),
          Array.from({ length: 60 }, (_, index) => 40 + index),
        );
      });

      it('returns fewer events than asked for, but at least one, when their texts are large', async () => {
        const text = 'x'.repeat(400 * 1024);
        const revisions = [0, 1, 2, 3, 4];
        for (const revision of revisions) {
          const event = someEvent('SomethingHappened', { text, revision });
          await mustAppend(store, stream, revision - 1, [event]);
        }
        const sizes: number[] = [];
        for (let from = 0; ; ) {
          const { events, characters, isEnd } = await store.read(stream, from);
          assert.deepEqual(
            events.map(({ revision }) => revision),
            revisions.slice(from, from + events.length),
          );
          assert.ok(characters >= text.length * events.length, `${characters} characters of ${events.length} events`);
          if (events.length > 0) sizes.push(events.length);
          from += events.length;
          if (isEnd) break;
          assert.ok(events.length > 0, 'a part that is not the end has an event');
        }
        assert.equal(Math.max(...sizes), 2);
        assert.equal(
          sizes.reduce((sum, size) => sum + size, 0),
          revisions.length,
        );
      });

      it('reads at most two large events in one turn of the event loop, however many readers there are', async () => {
        const text = 'x'.repeat(400 * 1024);
        const streams = Array.from({ length: 6 }, someStream);
        for (const name of streams) await mustAppend(store, name, noStream, [someEvent('SomethingHappened', { text })]);
        const turns = countTurns();
        const readIn = new Map<number, number>();
        const read = async (name: string) => {
          await store.read(name, 0);
          readIn.set(turns.now(), (readIn.get(turns.now()) ?? 0) + 1);
        };
        await Promise.all(streams.map(read));
        turns.end();
        assert.ok(Math.max(...readIn.values()) <= 2, `read in each turn: ${[...readIn.values()]}`);
      });

      it('reports the end of a stream when it has fewer events than asked for', async () => {
        await mustAppend(store, stream, noStream, someEvents(3));
        assert.equal((await store.read(stream, 0, 10)).isEnd, true);
        assert.equal((await store.read(stream, 0, 2)).isEnd, false);
        assert.equal((await store.read(someStream(), 0)).isEnd, true);
      });

      it('returns events that were appended before a restart', async () => {
        const events = someEvents(5);
        await mustAppend(store, stream, noStream, events);
        store = await opened.reopen();
        assert.deepEqual(idsOf(await readEvents(store, stream, 0)), idsOf(events));
        assert.equal((await mustAppend(store, stream, 4, [someEvent()])).revision, 5);
      });
    });

    describe('LogPages.eventAt', () => {
      it('returns the id of the event at exactly this position', async () => {
        const events = someEvents(3);
        await mustAppend(store, someStream(), noStream, events);
        const seen = await collect(store, { after: 0 }, untilCaughtUp);
        for (const { id } of events) {
          const position = seen.find((event) => event.id === id)?.position ?? assert.fail();
          assert.equal(await store.eventAt(position), id);
        }
      });

      it('returns null between two events, and after the last one', async () => {
        const { position } = await mustAppend(store, someStream(), noStream, someEvents(2));
        assert.equal(await store.eventAt(position + 1), null);
        assert.equal(await store.eventAt(position + 1_000_000), null);
        await mustAppend(store, someStream(), noStream, someEvents(1));
        const seen = await collect(store, { after: 0 }, untilCaughtUp);
        if (!seen.some((event) => event.position === position + 1))
          assert.equal(await store.eventAt(position + 1), null);
      });
    });

    describe('EventStore.lastPosition', () => {
      it('gives the position of the last stored event, which grows', async () => {
        const first = await mustAppend(store, stream, noStream, someEvents(2));
        assert.equal(await store.lastPosition(), first.position);
        const second = await mustAppend(store, someStream(), noStream, someEvents(2));
        assert.equal(await store.lastPosition(), second.position);
        assert.ok(second.position > first.position);
        store = await opened.reopen();
        assert.equal(await store.lastPosition(), second.position);
      });
    });

    describe('EventStore.close', () => {
      it('completes accepted appends before it closes', async () => {
        const streams = Array.from({ length: 100 }, someStream);
        const appends = streams.map((name) => mustAppend(store, name, noStream, [someEvent()]));
        const reopened = opened.reopen();
        await Promise.all(appends);
        store = await reopened;
        for (const name of streams) assert.equal((await readEvents(store, name, 0)).length, 1);
      });

      it('refuses calls after it is closed', async () => {
        await store.close();
        assert.equal((await mustRefuse(store, stream, noStream, [someEvent()])).kind, 'unavailable');
        await assert.rejects(readEvents(store, stream, 0), UnavailableError);
        await assert.rejects(store.lastPosition(), UnavailableError);
      });

      it('can be closed several times', async () => {
        await Promise.all([store.close(), store.close()]);
        await store.close();
      });
    });
  });
}
