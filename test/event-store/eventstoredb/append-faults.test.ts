import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import * as E from 'fp-ts/lib/Either.js';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  type EventStoreDbOptions,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { mustAppend, mustRefuse, someEvent, someEvents, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/eventstoredb/eventually.ts';
import { appendTooLarge, notLeader, thrownByHandler } from '#test/support/eventstoredb/faults/failures.ts';
import { UnhandledErrors } from '#test/support/eventstoredb/faults/unhandled-errors.ts';
import { readEvents } from '#test/support/harness/read-events.ts';

/** Short, so that tests are; a deadline holds when what it bounds ends within it and a little. */
/** The connection's own words would show addresses. */
const untold = /^The event store cannot be read: it (does not answer in time|cannot be reached)\.$/;
const limits = { answerWithinMs: 600, attemptMs: 200, readWithinMs: 600 };

describe('EventStoreDB event store: appends that go wrong', function () {
  this.timeout(60_000);

  let double: EventStoreDbDouble;
  let store: EventStoreDbEventStore;
  let unhandled: UnhandledErrors;
  let stream: string;
  const opened: EventStoreDbEventStore[] = [];

  const open = (options: Partial<EventStoreDbOptions> = {}) => {
    const another = openEventStoreDbEventStore({
      url: double.url,
      log: pino({ level: 'silent' }),
      ...limits,
      ...options,
    });
    opened.push(another);
    return another;
  };

  beforeEach(async () => {
    unhandled = new UnhandledErrors();
    double = await EventStoreDbDouble.start();
    store = open();
    stream = someStream();
  });

  afterEach(async () => {
    double.thaw();
    double.faults.everyAppend = null;
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await double.kill();
    unhandled.end();
    assert.deepEqual(unhandled.seen, []);
  });

  const stored = (name: string) => double.log.visible(name)?.length ?? 0;

  describe('an answer that is lost', () => {
    for (const kind of ['store-and-drop-answer', 'store-and-cut'] as const)
      it(`is asked for again, and the append stands once (${kind})`, async () => {
        double.faults.nextAppends.push({ kind });
        const events = someEvents(3);
        const appended = await mustAppend(store, stream, noStream, events);
        assert.equal(appended.revision, 2);
        assert.equal(appended.position, double.log.visible(stream)?.at(-1)?.position);
        assert.equal(stored(stream), 3);
      });

    it('is asked for again after a failure of any kind', async () => {
      double.faults.nextAppends.push({ kind: 'store-and-fail', failure: thrownByHandler() });
      const appended = await mustAppend(store, stream, noStream, [someEvent()]);
      assert.equal(appended.revision, 0);
      assert.equal(stored(stream), 1);
    });

    it('is no conflict, though the stream has gone on meanwhile', async () => {
      double.faults.nextAppends.push({ kind: 'store-and-drop-answer' });
      const appending = mustAppend(store, stream, noStream, someEvents(2));
      await eventually(() => stored(stream) === 2);
      await mustAppend(open(), stream, 1, [someEvent()]);
      assert.equal((await appending).revision, 1);
      assert.equal(stored(stream), 3);
    });

    it('is a conflict when another append came first', async () => {
      double.faults.nextAppends.push({ kind: 'ignore' });
      const appending = mustRefuse(store, stream, noStream, [someEvent()]);
      await eventually(() => double.faults.nextAppends.length === 0);
      await mustAppend(open(), stream, noStream, [someEvent()]);
      assert.deepEqual(await appending, { kind: 'conflict', actualRevision: 0 });
      assert.equal(stored(stream), 1);
    });

    it('that comes late is not waited for twice: the same ids in flight settle once', async () => {
      double.faults.commitTimeoutMs = 50;
      double.faults.nextAppends.push({ kind: 'answer-late', milliseconds: 400 });
      const appended = await mustAppend(open({ answerWithinMs: 4_000 }), stream, noStream, someEvents(2));
      assert.equal(appended.revision, 1);
      assert.equal(stored(stream), 2);
    });
  });

  describe('a server that does not answer', () => {
    it('leaves the caller at its deadline, and the append is settled behind it', async () => {
      double.faults.everyAppend = { kind: 'ignore' };
      const began = performance.now();
      const failure = await mustRefuse(store, stream, noStream, [someEvent()]);
      assert.ok(performance.now() - began < limits.answerWithinMs + 200);
      assert.equal(failure.kind, 'unavailable');
      assert.ok(failure.kind === 'unavailable' && failure.retryAfterSeconds >= 1);
      double.faults.everyAppend = null;
      await eventually(() => stored(stream) === 1);
    });

    it('keeps a bounded number of appends waiting', async () => {
      const small = open({ maxPendingAppends: 2 });
      double.faults.everyAppend = { kind: 'ignore' };
      const waiting = [1, 2].map(() => small.append(someStream(), noStream, [someEvent()])());
      const began = performance.now();
      assert.equal((await mustRefuse(small, stream, noStream, [someEvent()])).kind, 'unavailable');
      assert.ok(performance.now() - began < 100, 'refused at once');
      double.faults.everyAppend = null;
      await Promise.all(waiting);
      await eventually(async () => E.isRight(await small.append(someStream(), noStream, [someEvent()])()));
    });

    it('that was frozen and goes on: nothing is lost, nothing is stored twice', async () => {
      await mustAppend(store, stream, noStream, [someEvent()]);
      double.freeze();
      const failures = await Promise.all(
        Array.from({ length: 20 }, (_, index) => mustRefuse(store, `${stream}-${index}`, noStream, someEvents(2))),
      );
      assert.ok(failures.every(({ kind }) => kind === 'unavailable'));
      await assert.rejects(readEvents(store, stream, 0), { name: 'Unavailable', message: untold });
      double.thaw();
      await mustAppend(store, stream, 0, [someEvent()]);
      await eventually(() =>
        Array.from({ length: 20 }, (_, index) => stored(`${stream}-${index}`)).every((n) => n === 2),
      );
    });

    it('is left for a new connection, when the old one alone is dead', async () => {
      await mustAppend(store, stream, noStream, [someEvent()]);
      double.freeze();
      const appending = mustRefuse(store, stream, 0, [someEvent()]);
      await appending;
      // Those that were frozen stay so; new ones pass.
      double.thawNewConnections();
      await eventually(async () => (await readEvents(store, stream, 0)).length === 2);
      await mustAppend(store, stream, 1, [someEvent()]);
    });
  });

  describe('a server that stops', () => {
    it('and starts again: what was acknowledged stands, what was not is settled, and appends go on', async () => {
      const acknowledged: string[] = [];
      let stopping = false;
      const write = async (writer: number) => {
        for (let number = 0; !stopping; number += 1) {
          const name = `${stream}-${writer}-${number}`;
          const outcome = await store.append(name, noStream, someEvents(2))();
          if (E.isRight(outcome)) acknowledged.push(name);
        }
      };
      const writing = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
      for (let round = 1; round <= 2; round += 1) {
        await eventually(() => acknowledged.length > round * 25);
        await double.kill();
        await sleep((round - 1) * 700);
        await double.start();
      }
      await eventually(async () => E.isRight(await store.append(someStream(), noStream, [someEvent()])()));
      stopping = true;
      await writing;
      assert.ok(acknowledged.length > 50);
      for (const name of acknowledged) assert.equal(stored(name), 2);
    });

    it('with grace: open calls go on, new ones wait for the next start', async () => {
      await mustAppend(store, stream, noStream, [someEvent()]);
      const stopped = double.stop(200);
      const failure = store.append(stream, 0, [someEvent()])();
      await stopped;
      await double.start();
      assert.ok(E.isRight(await failure));
      assert.equal(stored(stream), 2);
    });

    it('is unavailable at once to a new caller only after its deadline, and comes back by itself', async () => {
      await double.kill();
      assert.equal((await mustRefuse(store, stream, noStream, [someEvent()])).kind, 'unavailable');
      await assert.rejects(store.lastPosition(), { name: 'Unavailable', message: untold });
      await double.start();
      await eventually(() => stored(stream) === 1);
      assert.equal((await readEvents(store, stream, 0)).length, 1);
    });

    it('and is not ready when it starts: calls wait until it is', async () => {
      const written = someStream();
      await mustAppend(store, written, noStream, someEvents(2));
      double.faults.notReady = true;
      setTimeout(() => {
        double.faults.notReady = false;
      }, 150);
      const [appended, events] = await Promise.all([
        mustAppend(store, stream, noStream, [someEvent()]),
        readEvents(store, written, 0),
      ]);
      assert.equal(appended.revision, 0);
      // Such a server finds no stream, for those who do not ask for a leader.
      assert.equal(events.length, 2);
      assert.ok((await store.lastPosition()) > 0);
    });
  });

  it('goes to the node that leads', async () => {
    const leader = await EventStoreDbDouble.start();
    try {
      double.faults.notLeader = notLeader({ host: '127.0.0.1', port: leader.port });
      await mustAppend(store, stream, noStream, [someEvent()]);
      assert.equal(leader.log.visible(stream)?.length, 1);
      assert.equal(stored(stream), 0);
    } finally {
      await Promise.all(opened.splice(0).map((each) => each.close()));
      await leader.kill();
    }
  });

  it('finds a node by several seeds, some of them down', async () => {
    const url = `esdb://127.0.0.1:1,127.0.0.1:${double.port}?tls=false`;
    await mustAppend(open({ url, answerWithinMs: 3_000, attemptMs: 2_000 }), stream, noStream, [someEvent()]);
    assert.equal(stored(stream), 1);
  });

  it('tells its caller in time, and breaks nothing, when no seed is up', async () => {
    const lost = open({ url: 'esdb://127.0.0.1:1,127.0.0.1:2?tls=false&maxDiscoverAttempts=2', settleWithinMs: 500 });
    const failures = await Promise.all(
      Array.from({ length: 10 }, () => mustRefuse(lost, someStream(), noStream, [someEvent()])),
    );
    assert.ok(failures.every(({ kind }) => kind === 'unavailable'));
    await assert.rejects(readEvents(lost, stream, 0), { name: 'Unavailable' });
    await sleep(300);
  });

  it('is untouched by what befalls another client of the process', async () => {
    const other = EventStoreDBClient.connectionString(`${double.url}&throwOnAppendFailure=true`);
    const gone = await EventStoreDbDouble.start();
    const broken = EventStoreDBClient.connectionString(gone.url);
    gone.faults.everyAppend = { kind: 'ignore' };
    const pending = broken.appendToStream('a', jsonEvent({ type: 't', data: {} })).catch(() => {});
    await sleep(50);
    double.faults.nextAppends.push({ kind: 'answer-late', milliseconds: 150 });
    const appending = mustAppend(store, stream, noStream, [someEvent()]);
    await sleep(20);
    await gone.kill();
    await pending;
    assert.equal((await appending).revision, 0);
    assert.equal(stored(stream), 1);
    await Promise.all([other.dispose(), broken.dispose()]);
  });

  describe('what the server says and should not be believed', () => {
    it('is success for the repeat of an append whose stream was deleted since', async () => {
      const events = [someEvent()];
      await mustAppend(store, stream, noStream, events);
      double.log.softDelete(stream, 'any');
      await assert.rejects(store.append(stream, noStream, events)(), { name: 'StreamDeleted' });
    });

    it('is "deleted" for good: not to be tried again', async () => {
      await mustAppend(store, stream, noStream, [someEvent()]);
      double.log.tombstone(stream, 'any');
      await assert.rejects(store.append(stream, 0, [someEvent()])(), { name: 'StreamDeleted' });
    });

    it('is success for an append of nothing: refused before anything is tried', () => {
      const { calls } = double;
      assert.throws(() => store.append(stream, noStream, []), RangeError);
      assert.equal(double.calls, calls);
    });

    it('is a size limit of its own', async () => {
      double.faults.nextAppends.push({ kind: 'fail', failure: appendTooLarge(1_000) });
      const failure = await mustRefuse(store, stream, noStream, [someEvent()]);
      assert.ok(failure.kind === 'append-too-large' && failure.maxBytes === 1_000);
    });

    it('is the position of the first of several events, on a repeat: the last one is read back', async () => {
      const events = someEvents(3);
      const first = await mustAppend(store, stream, noStream, events);
      await mustAppend(store, stream, 2, [someEvent()]);
      double.faults.repeatsTellFirstPosition = true;
      assert.deepEqual(await mustAppend(store, stream, noStream, events), first);
    });
  });
});
