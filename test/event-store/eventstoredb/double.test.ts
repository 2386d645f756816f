import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { credentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { appendRequests, subscriptionRequest } from '#event-store/eventstoredb/wire/requests.ts';
import { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { mustAppend, someEvent, someEvents, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbDouble, type ServerRelease } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { SyncedFile } from '#test/support/eventstoredb/synced-file.ts';
import { eventually } from '#test/support/run/eventually.ts';

/** Events of 20 KB each: more than the network buffers. */
const slowEvents = 600;

describe('EventStoreDbDouble with a slow subscriber of $all', function () {
  this.timeout(60_000);

  it('drops a slow live subscriber as version 23.10 does', async () => {
    const { positions, failure, caughtUp } = await slowLiveSubscriber('23.10');
    assert.ok(positions < slowEvents, String(positions));
    assert.match(String(failure), /Consumer too slow to handle event while live/);
    assert.equal(caughtUp, 1);
  });

  it('drops a slow subscriber that is catching up as version 23.10 does', async () => {
    await withSubscriber('23.10', async (double, subscriber) => {
      fill(double, 32);
      await subscriber.subscribe({ paused: true });
      fill(double, 100);
      subscriber.resume();
      await eventually(() => subscriber.failure !== null);
      assert.match(String(subscriber.failure), /Consumer too slow to handle event while transitioning to live/);
      assert.equal(subscriber.caughtUp, 0);
    });
  });

  it('sends a slow live subscriber everything in order as version 24 does, with several notices that it has caught up', async () => {
    const { positions, failure, caughtUp } = await slowLiveSubscriber('24');
    assert.equal(positions, slowEvents);
    assert.equal(failure, null);
    assert.ok(caughtUp > 1, String(caughtUp));
  });

  it('sends a slow subscriber that is catching up everything in order as version 24 does', async () => {
    await withSubscriber('24', async (double, subscriber) => {
      fill(double, 32);
      await subscriber.subscribe({ paused: true });
      fill(double, 100);
      subscriber.resume();
      await eventually(() => subscriber.positions.length === 132);
      assertInOrder(double, subscriber);
    });
  });
});

describe('EventStoreDbDouble with an append that ends early', function () {
  this.timeout(60_000);

  for (const how of ['cancelled', 'cut'] as const)
    it(`stores nothing of it (${how})`, async () => {
      const double = await EventStoreDbDouble.start();
      const stubs = new StreamsClient(`127.0.0.1:${double.port}`, credentials.createInsecure());
      try {
        const stream = someStream();
        const { promise: failed, resolve: fail } = Promise.withResolvers<unknown>();
        const call = stubs.append(fail);
        call.on('error', () => {});
        for (const request of appendRequests(stream, noStream, someEvents(3)).slice(0, 3)) call.write(request);
        await eventually(() => double.callsByKind.append === 1);
        // The messages have arrived by then.
        await sleep(100);
        if (how === 'cancelled') call.cancel();
        else double.cut();
        assert.match(String(await failed), how === 'cancelled' ? /CANCELLED/ : /UNAVAILABLE/);
        await sleep(100);
        assert.equal(double.log.visible(stream), null);
      } finally {
        stubs.close();
        await double.kill();
      }
    });
});

describe('EventStoreDbDouble with a disk', function () {
  this.timeout(60_000);

  it('writes each append to its file before it answers', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-double-'));
    const file = join(folder, 'log');
    const disk = await SyncedFile.create(file);
    const double = await EventStoreDbDouble.start({ disk });
    const log = pino({ level: 'silent' });
    const store = openEventStoreDbEventStore({ url: double.url, streamPrefix: '', log });
    try {
      const events = Array.from({ length: 20 }, () => someEvent());
      await Promise.all(events.map((event) => mustAppend(store, someStream(), noStream, [event])));
      const stored = double.log.events.filter(({ type }) => type === events[0]?.type);
      assert.equal(stored.length, 20);
      assert.equal(
        await readFile(file, 'utf8'),
        stored.flatMap(({ data, metadata }) => [data, metadata].map((bytes) => Buffer.from(bytes).toString())).join(''),
      );
    } finally {
      await store.close();
      await double.kill();
      await disk.close();
      await rm(folder, { recursive: true });
    }
  });
});

/** A call of the server's subscription that a test pauses and resumes. */
class Subscriber {
  readonly positions: number[] = [];
  caughtUp = 0;
  failure: string | null = null;
  readonly #client: StreamsClient;
  #call: ReturnType<StreamsClient['read']> | null = null;

  constructor(port: number) {
    this.#client = new StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure());
  }

  /**
   * Waits until the server has confirmed the subscription.
   * @param paused whether it reads nothing more before `resume`
   */
  async subscribe({ paused }: { readonly paused: boolean }): Promise<void> {
    const call = this.#client.read(subscriptionRequest(0, new StreamNames({ streamPrefix: '' }).ownEvents()));
    this.#call = call;
    let confirmed = false;
    call.on('data', (answer) => {
      if (answer.hasConfirmation()) {
        confirmed = true;
        if (paused) call.pause();
      }
      if (answer.hasEvent()) this.positions.push(Number(answer.getEvent()?.getEvent()?.getCommitPosition()));
      if (answer.hasCaughtUp()) this.caughtUp += 1;
    });
    call.on('error', (error) => {
      this.failure = error.message;
    });
    await eventually(() => confirmed);
    await sleep(50);
  }

  pause(): void {
    this.#call?.pause();
  }

  resume(): void {
    this.#call?.resume();
  }

  close(): void {
    this.#call?.on('error', () => undefined).cancel();
    this.#client.close();
  }
}

async function slowLiveSubscriber(manner: ServerRelease) {
  return withSubscriber(manner, async (double, subscriber) => {
    await subscriber.subscribe({ paused: false });
    await eventually(() => subscriber.caughtUp === 1);
    subscriber.pause();
    fill(double, slowEvents);
    await sleep(50);
    subscriber.resume();
    await eventually(() => subscriber.failure !== null || subscriber.positions.length === slowEvents);
    assertInOrder(double, subscriber);
    await eventually(() => manner === '23.10' || subscriber.caughtUp > 1);
    const { failure, caughtUp } = subscriber;
    return { positions: subscriber.positions.length, failure, caughtUp };
  });
}

async function withSubscriber<Result>(
  manner: ServerRelease,
  test: (double: EventStoreDbDouble, subscriber: Subscriber) => Promise<Result>,
): Promise<Result> {
  const double = await EventStoreDbDouble.start({ manner });
  const subscriber = new Subscriber(double.port);
  try {
    return await test(double, subscriber);
  } finally {
    subscriber.close();
    await double.kill();
  }
}

/** Appends events that are so large that the network buffers few of them. */
function fill(double: EventStoreDbDouble, count: number): void {
  const data = Buffer.alloc(20_000, 'x');
  for (let number = 0; number < count; number += 1)
    double.log.append('filled', 'any', [
      { id: randomUUID(), type: 'Filled', isJson: false, data, metadata: new Uint8Array() },
    ]);
}

function assertInOrder({ log }: EventStoreDbDouble, { positions }: Subscriber): void {
  const logged = log.events.filter(({ stream }) => stream === 'filled').map(({ position }) => position);
  assert.deepEqual(positions, logged.slice(0, positions.length));
}
