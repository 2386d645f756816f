import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { Metadata } from '@grpc/grpc-js';
import * as E from 'fp-ts/lib/Either.js';
import { pino } from 'pino';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { streamName } from '#domain/shared/entity.ts';
import { defaultMaxAppendBytes, noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  type EventStoreDbOptions,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { Admission } from '#exchange/admission.ts';
import { keptCount } from '#exchange/held.ts';
import { mustAppend, mustRefuse, someEvent, someEvents, someStream } from '#test/contract/event-store.ts';
import { names, namesSet, origin } from '#test/support/events/names.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import {
  appendTooLarge,
  eventTooLarge,
  notLeader,
  thrownByHandler,
} from '#test/support/eventstoredb/faults/failures.ts';
import { UnhandledErrors } from '#test/support/eventstoredb/faults/unhandled-errors.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import { eventually } from '#test/support/run/eventually.ts';

/** The message for a failed read, without the addresses that the connection's own message shows. */
const unreadable =
  /^The event store cannot be read: it (does not answer in time|cannot be reached: nothing answers at the host and port in EVENT_STORE_URL)\.$/;
/**
 * A long limit for calls that must succeed on a busy machine. Attempts are short, so that a lost one is repeated soon.
 */
const limits = { answerWithinMs: 45_000, attemptMs: 200, readWithinMs: 45_000 };
/** For calls that must reach their time limit. */
const shortLimits = { answerWithinMs: 600, readWithinMs: 600 };

const streamPrefix = 'test.';

describe('EventStoreDbEventStore with failing appends', function () {
  this.timeout(60_000);

  let double: EventStoreDbDouble;
  let store: EventStoreDbEventStore;
  let unhandled: UnhandledErrors;
  let stream: string;
  const opened: EventStoreDbEventStore[] = [];

  const open = (options: Partial<EventStoreDbOptions> = {}) => {
    const another = openEventStoreDbEventStore({
      url: double.url,
      streamPrefix,
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

  /** A store with short limits, whose connection is open. The patient one is closed: they would share a connection. */
  async function openImpatient(): Promise<EventStoreDbEventStore> {
    await store.close();
    const impatient = open(shortLimits);
    await eventually(async () => E.isRight(await impatient.append(someStream(), noStream, [someEvent()])));
    return impatient;
  }

  const stored = (name: string) => double.log.visible(`${streamPrefix}${name}`)?.length ?? 0;

  /** Appends one event as soon as the server is known to be back. */
  async function eventuallyAppended(name: string, expectedRevision: number): Promise<void> {
    const event = someEvent();
    await eventually(async () => E.isRight(await store.append(name, expectedRevision, [event])));
  }

  describe('appends in a line', () => {
    const { flow: id } = ids;
    const addition = (name: string) => ({ events: [namesSet(name)], tenant: tenants.project });

    /** 64 clients add to one stream through the writer, each again after a conflict, until it has added this many. */
    async function addInLine(writer: StreamWriter, additions: number): Promise<ReadonlyArray<string>> {
      const acknowledged: string[] = [];
      const add = async (name: string): Promise<void> => {
        const turn = await writer.beginTurn(names, id, 'pipelined', performance.now() + limits.answerWithinMs);
        const accepted = await turn
          .load()
          .then((state) => turn.append(state, { ...addition(name), origin }))
          .finally(() => turn.end());
        const outcome = await accepted.outcome;
        if (outcome.kind === 'conflict') return add(name);
        assert.equal(outcome.kind, 'stored', JSON.stringify(outcome));
        acknowledged.push(name);
      };
      const work = async (client: number) => {
        for (let number = 0; number < additions; number += 1) await add(`${client} ${number}`);
      };
      await Promise.all(Array.from({ length: 64 }, (_, client) => work(client)));
      return acknowledged;
    }

    const kinds = ['store-and-drop-answer', 'store-and-cut', 'ignore'] as const;

    it('are stored once and in a whole chain, although answers are lost and another node writes', async () => {
      const writer = new StreamWriter({ store });
      const other = new StreamWriter({ store: open() });
      let isOver = false;
      const disturb = async () => {
        for (let round = 0; !isOver; round += 1) {
          double.faults.nextAppends.push({ kind: kinds[round % kinds.length] ?? 'ignore' });
          await sleep(40);
          if (round % 3 === 0)
            await other.write({ entity: names, id, origin, decide: () => E.right(addition(`other ${round}`)) });
        }
      };
      const disturbed = disturb();
      const acknowledged = await addInLine(writer, 10).finally(() => {
        isOver = true;
      });
      await disturbed;
      const events = await readEvents(store, streamName(names, id), 0);
      const found = events.map(({ data }) => String(data.names));
      for (const name of acknowledged) assert.equal(found.filter((each) => each === name).length, 1, name);
      assert.equal(acknowledged.length, 640);
      for (const [index, { metadata }] of events.entries()) {
        assert.equal(metadata.prevHash, events[index - 1]?.metadata.hash ?? null);
      }
    });
  });

  describe('append whose answer is lost', () => {
    for (const kind of ['store-and-drop-answer', 'store-and-cut'] as const)
      it(`repeats an append whose answer is lost, and stores its events once (${kind})`, async () => {
        double.faults.nextAppends.push({ kind });
        const events = someEvents(3);
        const appended = await mustAppend(store, stream, noStream, events);
        assert.equal(appended.revision, 2);
        assert.equal(appended.position, double.log.visible(`${streamPrefix}${stream}`)?.at(-1)?.position);
        assert.equal(stored(stream), 3);
      });

    it('repeats an append after an unknown failure, and stores its events once', async () => {
      double.faults.nextAppends.push({ kind: 'store-and-fail', failure: thrownByHandler() });
      const appended = await mustAppend(store, stream, noStream, [someEvent()]);
      assert.equal(appended.revision, 0);
      assert.equal(stored(stream), 1);
    });

    it('reports no conflict when the stream has grown since the lost answer', async () => {
      double.faults.nextAppends.push({ kind: 'store-and-drop-answer' });
      const appending = mustAppend(store, stream, noStream, someEvents(2));
      await eventually(() => stored(stream) === 2);
      await mustAppend(open(), stream, 1, [someEvent()]);
      assert.equal((await appending).revision, 1);
      assert.equal(stored(stream), 3);
    });

    it('reports a conflict when another append came first', async () => {
      double.faults.nextAppends.push({ kind: 'ignore' });
      const appending = mustRefuse(store, stream, noStream, [someEvent()]);
      await eventually(() => double.faults.nextAppends.length === 0);
      await mustAppend(open(), stream, noStream, [someEvent()]);
      assert.deepEqual(await appending, { kind: 'conflict', actualRevision: 0 });
      assert.equal(stored(stream), 1);
    });

    it('settles an append once when its answer arrives late', async () => {
      double.faults.commitTimeoutMs = 50;
      double.faults.nextAppends.push({ kind: 'answer-late', milliseconds: 400 });
      const appended = await mustAppend(store, stream, noStream, someEvents(2));
      assert.equal(appended.revision, 1);
      assert.equal(stored(stream), 2);
    });
  });

  describe('server that does not answer', () => {
    it('answers unavailable at the deadline, and settles the append in the background', async () => {
      store = open(shortLimits);
      double.faults.everyAppend = { kind: 'ignore' };
      const keptBefore = keptCount('settling append');
      const failure = await mustRefuse(store, stream, noStream, [someEvent()]);
      assert.equal(failure.kind, 'unavailable');
      assert.ok(failure.kind === 'unavailable' && failure.retryAfterSeconds >= 1);
      assert.equal(keptCount('settling append'), keptBefore + 1);
      double.faults.everyAppend = null;
      await eventually(() => stored(stream) === 1);
      await eventually(() => keptCount('settling append') === keptBefore);
    });

    it('bounds the number of waiting appends', async () => {
      const small = open({
        ...shortLimits,
        admission: new Admission({ limits: { rooms: { append: { maxPlaces: 2 } } } }),
      });
      double.faults.everyAppend = { kind: 'ignore' };
      let given = 0;
      const waiting = [1, 2].map(async () => {
        await small.append(someStream(), noStream, [someEvent()]);
        given += 1;
      });
      assert.equal((await mustRefuse(small, stream, noStream, [someEvent()])).kind, 'unavailable');
      assert.equal(given, 0, 'it was refused later than those that wait');
      double.faults.everyAppend = null;
      await Promise.all(waiting);
      await eventually(async () => E.isRight(await small.append(someStream(), noStream, [someEvent()])));
    });

    it('neither loses nor repeats an append when the server was frozen', async () => {
      await mustAppend(store, stream, noStream, [someEvent()]);
      store = await openImpatient();
      double.freeze();
      const failures = await Promise.all(
        Array.from({ length: 20 }, (_, index) => mustRefuse(store, `${stream}-${index}`, noStream, someEvents(2))),
      );
      assert.ok(failures.every(({ kind }) => kind === 'unavailable'));
      await assert.rejects(readEvents(store, stream, 0), { name: 'UnavailableError', message: unreadable });
      double.thaw();
      await eventuallyAppended(stream, 0);
      await eventually(() =>
        Array.from({ length: 20 }, (_, index) => stored(`${stream}-${index}`)).every((n) => n === 2),
      );
    });

    it('opens a new connection when only the old one is dead', async () => {
      await mustAppend(store, stream, noStream, [someEvent()]);
      store = await openImpatient();
      double.freeze();
      const appending = mustRefuse(store, stream, 0, [someEvent()]);
      await appending;
      // Frozen connections stay frozen; new ones work.
      double.thawNewConnections();
      await eventually(async () => (await readEvents(store, stream, 0).catch(() => [])).length === 2);
      await eventuallyAppended(stream, 1);
    });
  });

  describe('server that stops', () => {
    it('keeps acknowledged appends, settles the others and continues after a restart of the server', async () => {
      const acknowledged: string[] = [];
      let stopping = false;
      const write = async (writer: number) => {
        for (let number = 0; !stopping; number += 1) {
          const name = `${stream}-${writer}-${number}`;
          const outcome = await store.append(name, noStream, someEvents(2));
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
      await eventually(async () => E.isRight(await store.append(someStream(), noStream, [someEvent()])));
      stopping = true;
      await writing;
      assert.ok(acknowledged.length > 50);
      for (const name of acknowledged) assert.equal(stored(name), 2);
    });

    it('completes open calls and waits with new ones when the server stops gracefully', async () => {
      store = open({ retriesWhenUnavailable: true });
      await mustAppend(store, stream, noStream, [someEvent()]);
      const stopped = double.stop(200);
      const failure = store.append(stream, 0, [someEvent()]);
      await stopped;
      await double.start();
      assert.ok(E.isRight(await failure));
      assert.equal(stored(stream), 2);
    });

    it('answers unavailable at the deadline while the server is down, and reconnects by itself', async () => {
      store = open(shortLimits);
      await double.kill();
      assert.equal((await mustRefuse(store, stream, noStream, [someEvent()])).kind, 'unavailable');
      await assert.rejects(store.lastPosition(), { name: 'UnavailableError', message: unreadable });
      await double.start();
      await eventually(() => stored(stream) === 1);
      await eventually(async () => (await readEvents(store, stream, 0).catch(() => [])).length === 1);
    });

    it('waits until a started server is ready', async () => {
      store = open({ retriesWhenUnavailable: true });
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
      // A server that is not ready finds no stream unless the client requires a leader.
      assert.equal(events.length, 2);
      assert.ok((await store.lastPosition()) > 0);
    });
  });

  it('appends at the leader node', async () => {
    const leader = await EventStoreDbDouble.start();
    try {
      double.faults.notLeader = notLeader({ host: '127.0.0.1', port: leader.port });
      await mustAppend(store, stream, noStream, [someEvent()]);
      assert.equal(leader.log.visible(`${streamPrefix}${stream}`)?.length, 1);
      assert.equal(stored(stream), 0);
    } finally {
      await Promise.all(opened.splice(0).map((each) => each.close()));
      await leader.kill();
    }
  });

  it('finds a node with several seeds of which some are down', async () => {
    const url = `esdb://127.0.0.1:1,127.0.0.1:${double.port}?tls=false`;
    await mustAppend(open({ url, attemptMs: 2_000 }), stream, noStream, [someEvent()]);
    assert.equal(stored(stream), 1);
  });

  it('answers unavailable in time when no seed is up', async () => {
    const url = 'esdb://127.0.0.1:1,127.0.0.1:2?tls=false&maxDiscoverAttempts=2';
    const lost = open({ ...shortLimits, url, settleWithinMs: 500 });
    const failures = await Promise.all(
      Array.from({ length: 10 }, () => mustRefuse(lost, someStream(), noStream, [someEvent()])),
    );
    assert.ok(failures.every(({ kind }) => kind === 'unavailable'));
    await assert.rejects(readEvents(lost, stream, 0), { name: 'UnavailableError' });
    await sleep(300);
  });

  it('is unaffected by faults of another client in the same process', async () => {
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

  describe('misleading answers of the server', () => {
    it('reports a deleted stream when a repeated append meets a soft-deleted stream', async () => {
      const events = [someEvent()];
      await mustAppend(store, stream, noStream, events);
      double.log.softDelete(`${streamPrefix}${stream}`, 'any');
      await assert.rejects(store.append(stream, noStream, events), { name: 'UnreadableStreamError' });
    });

    it('reports a deleted stream for a tombstone, without a retry', async () => {
      await mustAppend(store, stream, noStream, [someEvent()]);
      double.log.tombstone(`${streamPrefix}${stream}`, 'any');
      await assert.rejects(store.append(stream, 0, [someEvent()]), { name: 'UnreadableStreamError' });
    });

    it('rejects an append without events before it calls the server', async () => {
      const { calls } = double;
      await assert.rejects(store.append(stream, noStream, []), RangeError);
      assert.equal(double.calls, calls);
    });

    for (const [what, refusal] of [
      ['an append', appendTooLarge(1_000)],
      ['one event', eventTooLarge(1_000)],
    ] as const)
      it(`reports the limit of the server for the size of ${what}`, async () => {
        double.faults.nextAppends.push({ kind: 'fail', failure: refusal });
        const failure = await mustRefuse(store, stream, noStream, [someEvent()]);
        assert.ok(failure.kind === 'append-too-large' && failure.maxBytes === 1_000, JSON.stringify(failure));
      });

    it('reports its own limit when the server does not name one', async () => {
      const metadata = Metadata.fromHttp2Headers({ exception: 'maximum-append-size-exceeded' });
      double.faults.nextAppends.push({ kind: 'fail', failure: { ...appendTooLarge(1_000), metadata } });
      const failure = await mustRefuse(store, stream, noStream, [someEvent()]);
      assert.ok(failure.kind === 'append-too-large' && failure.maxBytes === defaultMaxAppendBytes);
    });

    it('returns the position of the last event when a repeated append is answered with the first one’s', async () => {
      const events = someEvents(3);
      const first = await mustAppend(store, stream, noStream, events);
      await mustAppend(store, stream, 2, [someEvent()]);
      double.faults.repeatsTellFirstPosition = true;
      assert.deepEqual(await mustAppend(store, stream, noStream, events), first);
    });
  });
});
