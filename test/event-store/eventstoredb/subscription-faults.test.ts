import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { noStream, type RecordedEvent } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { mustAppend, someEvent, someEvents, someMetadata, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { UnhandledErrors } from '#test/support/eventstoredb/faults/unhandled-errors.ts';
import { batchesOf, tailOf } from '#test/support/log/tail-of.ts';
import { eventually } from '#test/support/run/eventually.ts';

/** A follower in the background. */
interface Reading {
  readonly events: RecordedEvent[];
  /** Whether it has caught up at least once. */
  caughtUp: boolean;
  /** Ends the follower. @throws the error with which it ended */
  end(): Promise<void>;
}

const streamPrefix = 'test.';

describe('the tail of a failing EventStoreDB', function () {
  this.timeout(60_000);

  let double: EventStoreDbDouble;
  let store: EventStoreDbEventStore;
  let tail: LogTail;
  let unhandled: UnhandledErrors;
  const readings: Reading[] = [];

  beforeEach(async () => {
    unhandled = new UnhandledErrors();
    double = await EventStoreDbDouble.start();
    store = openEventStoreDbEventStore({
      url: double.url,
      streamPrefix,
      log: pino({ level: 'silent' }),
      answerWithinMs: 5_000,
      attemptMs: 300,
      readWithinMs: 5_000,
    });
    tail = tailOf(store);
  });

  afterEach(async () => {
    double.thaw();
    double.faults.silentReads = false;
    await Promise.all(readings.splice(0).map((reading) => reading.end()));
    await tail.close();
    await store.close();
    await double.kill();
    unhandled.end();
    assert.deepEqual(unhandled.seen, []);
  });

  /** @param pauseMs between batches */
  function read(after = 0, pauseMs = 0, maxEvents = 50): Reading {
    const abort = new AbortController();
    const reading: Reading = {
      events: [],
      caughtUp: false,
      end() {
        abort.abort();
        return running;
      },
    };
    const run = async () => {
      for await (const batch of batchesOf(tail, { after, maxEvents, signal: abort.signal })) {
        reading.events.push(...batch.events);
        reading.caughtUp ||= batch.caughtUp;
        if (pauseMs > 0) await sleep(pauseMs);
      }
    };
    const running = run();
    readings.push(reading);
    return reading;
  }

  const ownEvents = () => double.log.events.filter(({ stream }) => stream.startsWith(streamPrefix));

  /** Asserts that each event of the log was read once, in order. */
  function assertComplete({ events }: Reading): void {
    const ours = ownEvents();
    assert.deepEqual(
      events.map(({ position }) => position),
      ours.map(({ position }) => position),
    );
  }

  const allRead = (reading: Reading) => () => reading.events.length >= ownEvents().length;

  /** Puts events into the log together, as another client does, without the time that appends take. */
  function fill(count: number, bytes = 100): void {
    const text = 'x'.repeat(bytes);
    for (const { id, type } of someEvents(count))
      double.log.append(`${streamPrefix}fill-${id}`, 'any', [
        {
          id,
          type,
          isJson: true,
          data: Buffer.from(JSON.stringify({ text })),
          metadata: Buffer.from(JSON.stringify(someMetadata)),
        },
      ]);
  }

  it('continues after the last handled batch when it is dropped as too slow again and again', async () => {
    const reading = read(0, 5, 20);
    await eventually(() => reading.caughtUp);
    for (let round = 0; round < 20; round += 1) {
      fill(100, 2_000);
      if (round % 3 === 0) double.dropSubscribers();
      await sleep(10);
    }
    await eventually(allRead(reading));
    assertComplete(reading);
    await mustAppend(store, someStream(), noStream, [someEvent()]);
    await eventually(allRead(reading));
  });

  it('buffers a bounded number of events for a consumer that stops reading, and loses none', async () => {
    let held = true;
    const abort = new AbortController();
    const positions: number[] = [];
    const consuming = (async () => {
      for await (const batch of batchesOf(tail, { after: 0, maxEvents: 10, signal: abort.signal })) {
        positions.push(...batch.events.map(({ position }) => position));
        while (held && !abort.signal.aborted) await sleep(5);
      }
    })();
    // More than twice what is read ahead.
    fill(5_000, 1_000);
    await sleep(300);
    assert.ok(positions.length <= 10);
    held = false;
    await eventually(() => positions.length === 5_000);
    abort.abort();
    await consuming;
    assert.ok(positions.every((position, index) => position > (positions[index - 1] ?? 0)));
  });

  it('loses no event when it is cut while it catches up or while it is live', async () => {
    fill(3_000);
    const reading = read(0, 1, 100);
    await eventually(() => reading.events.length > 500);
    double.cut();
    await eventually(() => reading.caughtUp);
    assertComplete(reading);
    for (let round = 0; round < 5; round += 1) {
      fill(10);
      double.cut();
      fill(10);
      await sleep(30);
    }
    await eventually(allRead(reading));
    assertComplete(reading);
  });

  it('continues when the server was stopped and started', async () => {
    fill(10);
    const reading = read();
    await eventually(() => reading.caughtUp);
    await double.kill();
    await sleep(300);
    await double.start();
    fill(10);
    await eventually(allRead(reading));
    assertComplete(reading);
  });

  it('continues when the server stopped gracefully', async () => {
    const reading = read();
    await eventually(() => reading.caughtUp);
    await double.stop(100);
    fill(5);
    await double.start();
    await eventually(allRead(reading));
    assertComplete(reading);
  });

  it('continues when the server was frozen', async () => {
    const reading = read();
    await eventually(() => reading.caughtUp);
    double.freeze();
    fill(10);
    await sleep(200);
    assert.equal(reading.events.length, 0);
    double.thaw();
    await eventually(allRead(reading));
    assertComplete(reading);
  });

  it('retries when the server does not confirm the subscription', async () => {
    double.faults.silentReads = true;
    const reading = read();
    await sleep(500);
    double.faults.silentReads = false;
    fill(3);
    await eventually(allRead(reading));
    assertComplete(reading);
  });

  it('does not report the end of the log of a server that is not ready', async () => {
    fill(3);
    double.faults.notReady = true;
    const reading = read();
    await sleep(200);
    assert.equal(reading.caughtUp, false);
    double.faults.notReady = false;
    await eventually(() => reading.caughtUp);
    assertComplete(reading);
  });

  it('begins when the server has started', async () => {
    fill(3);
    await double.kill();
    const reading = read();
    await sleep(200);
    await double.start();
    await eventually(() => reading.caughtUp);
    assertComplete(reading);
  });

  it('ends without an error while no server is running', async () => {
    await double.kill();
    const reading = read();
    await sleep(50);
    await reading.end();
    await double.start();
  });

  it('leaves no call open once it has ended', async () => {
    const reading = read();
    await eventually(() => double.subscriptions === 1);
    await reading.end();
    await eventually(() => double.subscriptions === 0);
  });

  it('skips events of the server itself, and gives those of a soft-deleted stream', async () => {
    const stream = someStream();
    await mustAppend(store, stream, noStream, [someEvent()]);
    double.log.softDelete(`${streamPrefix}${stream}`, 'any');
    const reading = read();
    await eventually(() => reading.caughtUp);
    assert.deepEqual(
      reading.events.map((event) => event.stream),
      [stream],
    );
    assert.equal(await store.lastPosition(), reading.events[0]?.position);
  });

  it('reads the log as it was stored', async () => {
    const stream = someStream();
    const events = someEvents(5);
    await mustAppend(store, stream, noStream, events);
    const log = await store.readRawLog(0, 3);
    assert.deepEqual(
      log.map(({ position: _position, ...event }) => event),
      events.slice(0, 3).map((event, revision) => ({ ...event, stream, revision })),
    );
    const rest = await store.readRawLog(log.at(-1)?.position ?? 0, 10);
    assert.deepEqual(
      rest.map(({ id }) => id),
      events.slice(3).map(({ id }) => id),
    );
    assert.deepEqual(
      (await store.readRaw(stream, 1, 2)).map(({ revision }) => revision),
      [1, 2],
    );
  });
});
