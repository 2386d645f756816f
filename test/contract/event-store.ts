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
  type SubscribeOptions,
} from '#event-store/event-store.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import { countTurns } from '#test/support/harness/turns.ts';

/** A store under test, with the default limits and no upcasters. */
export interface OpenedEventStore {
  readonly store: EventStore;
  /** Closes the store and opens another on the same log. */
  reopen(): Promise<EventStore>;
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

/** Appends, and fails the test when the store refuses. */
export async function mustAppend(
  store: EventStore,
  stream: string,
  expectedRevision: number,
  events: ReadonlyArray<EventToAppend>,
): Promise<AppendResult> {
  const outcome = await store.append(stream, expectedRevision, events)();
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
  const outcome = await store.append(stream, expectedRevision, events)();
  if (E.isRight(outcome)) assert.fail(`stored at revision ${outcome.right.revision}`);
  return outcome.left;
}

/** Reads a subscription until `enough`, then ends it. */
export async function collect(
  store: Pick<EventStore, 'subscribe'>,
  options: Omit<SubscribeOptions, 'signal'>,
  enough: (events: ReadonlyArray<RecordedEvent>, batch: EventBatch) => boolean,
): Promise<RecordedEvent[]> {
  const abort = new AbortController();
  const events: RecordedEvent[] = [];
  for await (const batch of store.subscribe({ ...options, signal: abort.signal })) {
    events.push(...batch.events);
    if (enough(events, batch)) abort.abort();
  }
  return events;
}

const untilCaughtUp = (_events: ReadonlyArray<RecordedEvent>, batch: EventBatch) => batch.caughtUp;
const hasCount = (count: number) => (events: ReadonlyArray<RecordedEvent>) => events.length >= count;
const idsOf = (events: ReadonlyArray<{ id: string }>) => events.map(({ id }) => id);

/**
 * Declares the tests of every event store, whichever engine keeps the log.
 * @param open opens a store on a new log
 */
export function eventStoreContract(name: string, open: () => Promise<OpenedEventStore>): void {
  describe(`event store contract: ${name}`, function () {
    this.timeout(60_000);
    let opened: OpenedEventStore;
    let store: EventStore;
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
            const outcome = await store.append(stream, revision, [someEvent('Written', { writer, written })])();
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
            store.append(index % 3 === 0 ? stream : someStream(), noStream, [someEvent()])(),
          ),
        );
        assert.deepEqual(
          outcomes.map((outcome) => E.isRight(outcome)),
          outcomes.map((_, index) => index % 3 !== 0),
        );
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

    describe('EventStore.subscribe', () => {
      it('gives the log from its beginning in the order of positions', async () => {
        const events = someEvents(25);
        const after = await store.lastPosition();
        await mustAppend(store, stream, noStream, events.slice(0, 10));
        await mustAppend(store, someStream(), noStream, events.slice(10, 20));
        await mustAppend(store, stream, 9, events.slice(20));
        const seen = await collect(store, { after, batchSize: 4 }, hasCount(25));
        assert.deepEqual(idsOf(seen), idsOf(events));
        assert.ok(seen.every(({ position }, index) => position > (seen[index - 1]?.position ?? after)));
      });

      it('begins a subscription after a position', async () => {
        const events = someEvents(10);
        await mustAppend(store, stream, noStream, events);
        const recorded = await readEvents(store, stream, 0);
        const seen = await collect(store, { after: recorded[6]?.position ?? -1 }, untilCaughtUp);
        assert.deepEqual(idsOf(seen), idsOf(events.slice(7)));
      });

      it('gives batches within the requested size, each with the position to continue from', async () => {
        const after = await store.lastPosition();
        await mustAppend(store, stream, noStream, someEvents(10));
        const abort = new AbortController();
        const sizes: number[] = [];
        for await (const batch of store.subscribe({ after, batchSize: 3, signal: abort.signal })) {
          sizes.push(batch.events.length);
          assert.ok(batch.position >= (batch.events.at(-1)?.position ?? 0));
          if (batch.caughtUp) abort.abort();
        }
        assert.equal(
          sizes.reduce((sum, size) => sum + size, 0),
          10,
        );
        assert.ok(sizes.every((size) => size <= 3));
      });

      it('reports at once that it has caught up with an empty log', async () => {
        const after = await store.lastPosition();
        const seen = await collect(store, { after }, untilCaughtUp);
        assert.deepEqual(seen, []);
      });

      it('reports that it has caught up only after the whole log has been read', async () => {
        const after = await store.lastPosition();
        const { position } = await mustAppend(store, stream, noStream, someEvents(10));
        let atMark: { seen: number; position: number } | null = null;
        await collect(store, { after, batchSize: 4 }, (events, batch) => {
          if (batch.caughtUp) atMark = { seen: events.length, position: batch.position };
          return batch.caughtUp;
        });
        assert.deepEqual(atMark, { seen: 10, position });
      });

      it('gives an unreadable event with its position, and throws only when its data is read', async () => {
        const after = await store.lastPosition();
        for (const texts of [{ data: '{' }, { metadata: '' }, { data: 'null' }]) {
          const [first, unreadable, last] = [someEvent(), { ...someEvent('Broken'), ...texts }, someEvent()];
          const unreadableStream = someStream();
          const start = await store.lastPosition();
          await mustAppend(store, unreadableStream, noStream, [first, unreadable, last]);
          const seen = await collect(store, { after: start }, hasCount(3));
          assert.deepEqual(idsOf(seen), idsOf([first, unreadable, last]));
          assert.deepEqual(
            seen.map(({ stream: name, revision, type }) => [name, revision, type]),
            [first, unreadable, last].map(({ type }, revision) => [unreadableStream, revision, type]),
          );
          assert.deepEqual(seen[2]?.data, JSON.parse(last.data));
          const position = seen[1]?.position;
          const refused = (error: unknown) =>
            error instanceof UnreadableEventError && error.eventId === unreadable.id && error.position === position;
          assert.throws(() => seen[1]?.data, refused);
          assert.throws(() => seen[1]?.metadata, refused);
          await assert.rejects(readEvents(store, unreadableStream, 0), refused);
          assert.deepEqual(idsOf(await readEvents(store, unreadableStream, 2)), [last.id]);
        }
        const wanted = await collect(store, { after, types: ['SomethingHappened'] }, hasCount(6));
        for (const event of wanted) assert.deepEqual(event.data, { number: 1 });
      });

      it('gives only events of the requested types, and the position after the others', async () => {
        const after = await store.lastPosition();
        const wanted = [...someEvents(3, 'Wanted'), ...someEvents(2, 'AlsoWanted')];
        await mustAppend(store, stream, noStream, [...someEvents(5, 'Other'), ...wanted, ...someEvents(5, 'Other')]);
        const last = await store.lastPosition();
        let position = 0;
        const seen = await collect(store, { after, types: ['Wanted', 'AlsoWanted'], batchSize: 2 }, (_, batch) => {
          position = batch.position;
          return batch.caughtUp;
        });
        assert.deepEqual(idsOf(seen), idsOf(wanted));
        assert.equal(position, last);
      });

      it('gives events of all types but the excluded ones, and the position after the others', async () => {
        const after = await store.lastPosition();
        await mustAppend(store, stream, noStream, [someEvent('Excepted'), someEvent('Wanted'), someEvent('Excepted')]);
        const last = await mustAppend(store, stream, 2, [someEvent('Excepted')]);
        const seen = await collect(store, { after, exceptTypes: ['Excepted', 'AlsoExcepted'] }, (_, batch) => {
          return batch.caughtUp && batch.position === last.position;
        });
        assert.deepEqual(
          seen.map(({ type }) => type),
          ['Wanted'],
        );
      });

      it('continues with new events after it has caught up', async () => {
        const after = await store.lastPosition();
        const events = someEvents(4);
        await mustAppend(store, stream, noStream, events.slice(0, 2));
        let appending: Promise<AppendResult> | null = null;
        const seen = await collect(store, { after }, (sofar, batch) => {
          if (batch.caughtUp && appending === null) appending = mustAppend(store, stream, 1, events.slice(2));
          return sofar.length >= 4;
        });
        await appending;
        assert.deepEqual(idsOf(seen), idsOf(events));
      });

      it('neither loses nor repeats an event while many writers append', async () => {
        const after = await store.lastPosition();
        const writers = 8;
        const appends = 40;
        const write = async () => {
          const own = someStream();
          for (let revision = noStream; revision < 2 * appends - 1; revision += 2)
            await mustAppend(store, own, revision, someEvents(2));
        };
        const writing = Promise.all(Array.from({ length: writers }, write));
        const total = writers * appends * 2;
        const fromStart = collect(store, { after, batchSize: 7 }, hasCount(total));
        const filtered = collect(store, { after, types: ['SomethingHappened'], batchSize: 50 }, hasCount(total));
        await writing;
        for (const seen of await Promise.all([fromStart, filtered])) {
          assert.equal(seen.length, total);
          assert.equal(new Set(idsOf(seen)).size, total);
          assert.ok(seen.every(({ position }, index) => position > (seen[index - 1]?.position ?? after)));
        }
      });

      it('continues after a restart from the last position', async () => {
        const after = await store.lastPosition();
        const events = someEvents(6);
        await mustAppend(store, stream, noStream, events.slice(0, 3));
        const before = await collect(store, { after }, untilCaughtUp);
        store = await opened.reopen();
        await mustAppend(store, stream, 2, events.slice(3));
        const since = await collect(store, { after: before.at(-1)?.position ?? -1 }, hasCount(3));
        assert.deepEqual(idsOf([...before, ...since]), idsOf(events));
      });

      it('ends without an error when it is aborted while it waits', async () => {
        const abort = new AbortController();
        const after = await store.lastPosition();
        let batches = 0;
        for await (const batch of store.subscribe({ after, signal: abort.signal })) {
          batches += 1;
          assert.ok(batch.caughtUp);
          setTimeout(() => abort.abort(), 20);
        }
        assert.equal(batches, 1);
      });

      it('gives nothing when it is aborted before it begins', async () => {
        for await (const _ of store.subscribe({ after: 0, signal: AbortSignal.abort() })) assert.fail('gave a batch');
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

      it('ends subscriptions without an error when the store closes', async () => {
        const after = await store.lastPosition();
        for await (const _ of store.subscribe({ after, signal: new AbortController().signal })) void store.close();
      });

      it('can be closed several times', async () => {
        await Promise.all([store.close(), store.close()]);
        await store.close();
      });
    });
  });
}
