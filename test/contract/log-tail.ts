import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import {
  type AppendResult,
  type EventStore,
  type EventToAppend,
  noStream,
  type RecordedEvent,
} from '#event-store/event-store.ts';
import type { LogPages } from '#event-store/log-pages.ts';
import type { Following, LogTail } from '#event-store/log-tail.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import { batchesOf, tailOf } from '#test/support/log/tail-of.ts';
import { eventually } from '#test/support/run/eventually.ts';
import {
  collect,
  hasCount,
  idsOf,
  mustAppend,
  type OpenedEventStore,
  someEvent,
  someEvents,
  someStream,
  untilCaughtUp,
} from './event-store.ts';

/**
 * Declares the tests of the tail of the log on every event store.
 * @param open opens a store on a new log
 */
export function logTailContract(name: string, open: () => Promise<OpenedEventStore>): void {
  describe(`log tail contract: ${name}`, function () {
    this.timeout(60_000);
    let opened: OpenedEventStore;
    let store: EventStore & LogPages;
    let tail: LogTail;
    let stream: string;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      tail = tailOf(store);
      stream = someStream();
    });

    afterEach(async () => {
      await tail.close();
      await opened.destroy();
    });

    it('gives the log from its beginning in the order of positions', async () => {
      const events = someEvents(25);
      const after = await store.lastPosition();
      await mustAppend(store, stream, noStream, events.slice(0, 10));
      await mustAppend(store, someStream(), noStream, events.slice(10, 20));
      await mustAppend(store, stream, 9, events.slice(20));
      const seen = await collect(store, { after, maxEvents: 4 }, hasCount(25));
      assert.deepEqual(idsOf(seen), idsOf(events));
      assert.ok(seen.every(({ position }, index) => position > (seen[index - 1]?.position ?? after)));
    });

    it('begins after a position', async () => {
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
      for await (const batch of batchesOf(tail, { after, maxEvents: 3, signal: abort.signal })) {
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

    it('reports immediately that it has caught up with an empty log', async () => {
      const after = await store.lastPosition();
      const seen = await collect(store, { after }, untilCaughtUp);
      assert.deepEqual(seen, []);
    });

    it('reports that it has caught up only after the whole log has been read', async () => {
      const after = await store.lastPosition();
      const { position } = await mustAppend(store, stream, noStream, someEvents(10));
      let atMark: { seen: number; position: number } | null = null;
      await collect(store, { after, maxEvents: 4 }, (events, batch) => {
        if (batch.caughtUp) atMark = { seen: events.length, position: batch.position };
        return batch.caughtUp;
      });
      assert.deepEqual(atMark, { seen: 10, position });
    });

    it('reports that it has caught up where the last batch is full, without waiting for a further event', async () => {
      const after = await store.lastPosition();
      await mustAppend(store, stream, noStream, someEvents(8));
      const seen = await collect(store, { after, maxEvents: 4 }, untilCaughtUp);
      assert.equal(seen.length, 8);
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
      const seen = await collect(store, { after, types: ['Wanted', 'AlsoWanted'], maxEvents: 2 }, (_, batch) => {
        position = batch.position;
        return batch.caughtUp;
      });
      assert.deepEqual(idsOf(seen), idsOf(wanted));
      assert.equal(position, last);
    });

    it('gives the past events of all types but the excluded ones, up to the end', async () => {
      const after = await store.lastPosition();
      await mustAppend(store, stream, noStream, [someEvent('Excepted'), someEvent('Wanted'), someEvent('Excepted')]);
      const last = await mustAppend(store, stream, 2, [someEvent('Excepted')]);
      const types: string[] = [];
      let position = 0;
      const { signal } = new AbortController();
      for await (const batch of tail.past({ after, exceptTypes: ['Excepted', 'AlsoExcepted'], signal })) {
        types.push(...batch.events.map(({ type }) => type));
        position = batch.position;
      }
      assert.deepEqual([types, position], [['Wanted'], last.position]);
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
      const fromStart = collect(store, { after, maxEvents: 7 }, hasCount(total));
      const filtered = collect(store, { after, types: ['SomethingHappened'], maxEvents: 50 }, hasCount(total));
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
      for await (const batch of batchesOf(tail, { after, signal: abort.signal })) {
        batches += 1;
        assert.ok(batch.caughtUp);
        setTimeout(() => abort.abort(), 20);
      }
      assert.equal(batches, 1);
    });

    it('gives nothing when it is aborted before it begins', async () => {
      for await (const _ of batchesOf(tail, { after: 0, signal: AbortSignal.abort() })) assert.fail('gave a batch');
    });

    it('wakes no follower for events of other types, whose position moves with the tail all the same', async () => {
      const { signal } = new AbortController();
      const batches: number[] = [];
      const handle = ({ events }: { readonly events: ReadonlyArray<unknown> }) => void batches.push(events.length);
      const wanted = tail.follow({ name: 'The test', after: 'end', types: ['Wanted'], handle, signal });
      await eventually(() => wanted.isCaughtUp);
      const { position } = await mustAppend(store, stream, noStream, someEvents(3, 'Other'));
      assert.equal(await wanted.passed(position, AbortSignal.timeout(30_000)), true);
      assert.deepEqual(batches, [0]);
      const last = await mustAppend(store, stream, 2, [someEvent('Wanted')]);
      assert.equal(await wanted.passed(last.position, AbortSignal.timeout(30_000)), true);
      assert.deepEqual(batches, [0, 1]);
    });

    it('holds up no follower for a slow one, and gives the slow one its events when it continues', async () => {
      const { signal } = new AbortController();
      const after = await store.lastPosition();
      const held = Promise.withResolvers<void>();
      const slow: string[] = [];
      tail.follow({
        ...{ name: 'The slow follower', after, signal },
        handle: async ({ events }) => {
          if (events.length > 0) await held.promise;
          slow.push(...events.map(({ id }) => id));
        },
      });
      // More than the window of the tail has room for.
      const events = Array.from({ length: 8 }, () => someEvent('Large', { text: 'x'.repeat(500_000) }));
      for (const [index, event] of events.entries()) await mustAppend(store, stream, index - 1, [event]);
      assert.deepEqual(idsOf(await follow(hasCount(events.length), after)), idsOf(events));
      assert.deepEqual(slow, []);
      held.resolve();
      await eventually(() => slow.length === events.length);
      assert.deepEqual(slow, idsOf(events));
    });

    it('gives a failing follower the same events again, without holding up the others', async () => {
      const { signal } = new AbortController();
      const after = await store.lastPosition();
      const events = someEvents(5);
      const handled: string[] = [];
      const failures: unknown[] = [];
      tail.follow({
        ...{ name: 'The failing follower', after, signal },
        handle: (batch) => {
          if (batch.events.length > 0 && failures.length < 3) throw new Error('not now');
          handled.push(...batch.events.map(({ id }) => id));
        },
        onError: (error) => failures.push(String(error)),
      });
      await mustAppend(store, stream, noStream, events);
      assert.deepEqual(idsOf(await follow(hasCount(5), after)), idsOf(events));
      await eventually(() => handled.length === 5);
      assert.deepEqual([handled, failures], [idsOf(events), Array(3).fill('Error: not now')]);
    });

    it('ends a follower with what its report of a failure throws', async () => {
      const fail = (error: unknown) => {
        throw error;
      };
      const following = tail.follow({
        ...{ name: 'The test', after: 'end', signal: new AbortController().signal },
        handle: () => fail(new Error('fatal')),
        onError: fail,
      });
      await assert.rejects(following.ended, /fatal/);
      assert.equal(await following.passed(Number.MAX_SAFE_INTEGER, new AbortController().signal), false);
    });

    it('leaves the others where they are when a follower begins beyond the end of the log', async () => {
      const { signal } = new AbortController();
      const after = await store.lastPosition();
      const beyond = tail.follow({ name: 'Beyond', after: after + 1_000_000, handle: () => assert.fail(), signal });
      let calls = 0;
      const counting = tailOf({
        changes: store.changes,
        lastPosition: () => store.lastPosition(),
        eventAt: (position) => store.eventAt(position),
        readPage: (request) => {
          calls += 1;
          return store.readPage(request);
        },
      });
      counting.follow({ name: 'Beyond', after: after + 1_000_000, handle: () => undefined, signal });
      const other = counting.follow({ name: 'The other', after, handle: () => undefined, signal });
      await eventually(() => other.isCaughtUp);
      await sleep(100);
      assert.ok(calls < 20, `${calls} reads`);
      assert.equal(beyond.position, after + 1_000_000);
      await counting.close();
    });

    it('gives random followers exactly the events of their types, in order and once', async () => {
      const types = ['One', 'Two', 'Three'];
      const follower = fc.record({
        types: fc.option(fc.subarray(types, { minLength: 1 }), { nil: undefined }),
        maxEvents: fc.integer({ min: 1, max: 20 }),
        pauseMs: fc.constantFrom(0, 0, 1, 5),
        failsEvery: fc.constantFrom(0, 0, 3, 7),
        beginsAtEnd: fc.boolean(),
      });
      const appends = fc.array(fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 6 }), { maxLength: 25 });
      await fc.assert(
        fc.asyncProperty(fc.array(follower, { minLength: 1, maxLength: 6 }), appends, async (followers, given) => {
          await followRandomly(tail, store, followers, given);
        }),
        { numRuns: 12, endOnFailure: true },
      );
    });

    /** Follows by the shared tail. */
    async function follow(enough: ReturnType<typeof hasCount>, after: number) {
      const abort = new AbortController();
      const seen: RecordedEvent[] = [];
      for await (const batch of batchesOf(tail, { after, signal: abort.signal })) {
        seen.push(...batch.events);
        if (enough(seen)) abort.abort();
      }
      return seen;
    }
  });
}

interface RandomFollower {
  readonly types: ReadonlyArray<string> | undefined;
  readonly maxEvents: number;
  /** How long it handles each batch. */
  readonly pauseMs: number;
  /** The number of batches after which it fails once; 0 for never. */
  readonly failsEvery: number;
  readonly beginsAtEnd: boolean;
}

/** Appends events while followers start and read them, and checks what each follower has seen. */
async function followRandomly(
  tail: LogTail,
  store: EventStore,
  followers: ReadonlyArray<RandomFollower>,
  given: ReadonlyArray<ReadonlyArray<string>>,
): Promise<void> {
  const stream = someStream();
  const ending = new AbortController();
  const before = await store.lastPosition();
  const appended: EventToAppend[] = [];
  let revision = noStream;
  const append = async (types: ReadonlyArray<string>) => {
    const events = types.map((type) => someEvent(type));
    await mustAppend(store, stream, revision, events);
    revision += events.length;
    appended.push(...events);
  };
  const running: Array<{ readonly seen: string[]; readonly wanted: () => string[]; readonly following: Following }> =
    [];
  const start = ({ types, maxEvents, pauseMs, failsEvery, beginsAtEnd }: RandomFollower) => {
    const seen: string[] = [];
    const skipped = beginsAtEnd ? appended.length : 0;
    let batches = 0;
    const following = tail.follow({
      ...{ name: 'A random follower', after: beginsAtEnd ? 'end' : before, maxEvents, signal: ending.signal },
      ...(types && { types }),
      handle: async ({ events }) => {
        await sleep(pauseMs);
        batches += 1;
        if (failsEvery > 0 && batches % failsEvery === 0) throw new Error('a random failure');
        seen.push(...events.map(({ id }) => id));
      },
      onError: () => undefined,
    });
    const isWanted = ({ type }: EventToAppend) => types?.includes(type) ?? true;
    running.push({ seen, following, wanted: () => idsOf(appended.slice(skipped).filter(isWanted)) });
    return following;
  };
  for (const [index, types] of given.entries()) {
    const next = followers[index];
    if (next !== undefined) {
      const following = start(next);
      // A follower of the end knows where the end was only when it has begun.
      if (next.beginsAtEnd) await eventually(() => following.isCaughtUp);
    }
    await append(types);
  }
  for (const { seen, wanted } of running) await eventually(() => seen.length >= wanted().length);
  for (const { seen, wanted } of running) assert.deepEqual(seen, wanted());
  ending.abort();
  await Promise.all(running.map(({ following }) => following.ended));
}
