import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { mustAppend, mustRefuse, someEvent, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

describe('EventStoreDB that is unavailable or slow', function () {
  this.timeout(60_000);

  let double: EventStoreDbDouble;
  let store: EventStoreDbEventStore;
  /** The levels of what the store has logged. */
  let lines: string[];

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    lines = [];
    const log = {
      debug: () => {},
      info: () => lines.push('info'),
      warn: () => lines.push('warn'),
      error: () => lines.push('error'),
    };
    store = openEventStoreDbEventStore({ url: double.url, streamPrefix: 'test.', log });
    await mustAppend(store, someStream(), noStream, [someEvent()]);
  });

  afterEach(async () => {
    double.thaw();
    await store.close();
    await double.kill();
  });

  const outages: ReadonlyArray<readonly [string, string, () => Promise<void>, () => Promise<void>]> = [
    ['killed', 'long before its deadline', () => double.kill(), () => double.start()],
    ['frozen', 'at its deadline', async () => double.freeze(), async () => double.thaw()],
  ];

  for (const [name, when, leave, come] of outages) {
    it(`is known to be away after it was ${name}: the first call fails ${when}, the next call immediately, and one line says so`, async () => {
      await leave();
      await mustRefuse(store, someStream(), noStream, [someEvent()]);
      await eventually(async () => {
        const failure = await mustRefuse(store, someStream(), noStream, [someEvent()]);
        return failure.kind === 'unavailable' && /^The event store cannot take writes: it /.test(failure.detail);
      });
      const { calls } = double;
      for (let number = 0; number < 20; number += 1) {
        const failure = await mustRefuse(store, someStream(), noStream, [someEvent()]);
        assert.ok(failure.kind === 'unavailable' && failure.retryAfterSeconds >= 1);
        assert.match(failure.detail, /^The event store cannot take writes: it /);
        await assert.rejects(store.lastPosition(), /^UnavailableError: The event store cannot be read: it /);
      }
      assert.equal(double.calls, calls, 'nobody but the probe asks the server');
      await come();
      await eventually(async () => E.isRight(await store.append(someStream(), noStream, [someEvent()])));
      assert.deepEqual(lines, ['warn', 'info']);
    });
  }

  it('settles a running append whose caller was refused', async () => {
    const stream = someStream();
    double.freeze();
    assert.equal((await mustRefuse(store, stream, noStream, [someEvent()])).kind, 'unavailable');
    double.thaw();
    await eventually(() => double.log.visible(`test.${stream}`)?.length === 1);
  });

  it('counts as available when cut connections are restored immediately', async () => {
    double.cut();
    await mustAppend(store, someStream(), noStream, [someEvent()]);
  });

  const clients = 64;

  /** Clients that write and read in turn, while the server is slow. @returns how many calls were refused, and stored */
  async function loadDuring(
    slowness: () => Promise<void>,
  ): Promise<{ readonly refused: number; readonly stored: number }> {
    let isOver = false;
    let refused = 0;
    let stored = 0;
    const work = async () => {
      while (!isOver) {
        const stream = someStream();
        if (E.isRight(await store.append(stream, noStream, [someEvent()]))) stored += 1;
        else refused += 1;
        await store.read(stream, 0).catch(() => {
          refused += 1;
        });
      }
    };
    const working = Promise.all(Array.from({ length: clients }, work));
    await slowness();
    isOver = true;
    await working;
    return { refused, stored };
  }

  const frozenFor = async (milliseconds: number) => {
    double.freeze();
    await sleep(milliseconds);
    double.thaw();
  };

  for (const [what, slowness] of [
    ['pauses for 1.2 s', () => double.pause(1_200)],
    ['pauses for 3 s', () => double.pause(3_000)],
    ['is frozen for 1.2 s', () => frozenFor(1_200)],
    ['is frozen for 3 s', () => frozenFor(3_000)],
  ] as const)
    it(`refuses no call of ${clients} clients while the server ${what}`, async () => {
      const { refused, stored } = await loadDuring(async () => {
        await sleep(100);
        await slowness();
        await sleep(100);
      });
      assert.equal(refused, 0);
      assert.ok(stored >= clients);
      assert.deepEqual(lines, []);
    });

  it('refuses no write while the server answers some reads late and others in time', async () => {
    const answers = setInterval(() => void store.lastPosition().catch(() => {}), 200);
    double.faults.everyAppend = { kind: 'answer-late', milliseconds: 2_000 };
    const written = await Promise.all(
      Array.from({ length: clients }, () => store.append(someStream(), noStream, [someEvent()])),
    );
    clearInterval(answers);
    assert.ok(written.every(E.isRight));
    assert.deepEqual(lines, []);
  });

  it('finds a server whose answers take longer than a second', async () => {
    const proxy = new TcpProxy(double.port);
    await proxy.listen();
    const distant = openEventStoreDbEventStore({
      url: proxy.through(double.url),
      streamPrefix: 'test.',
      log: pino({ level: 'silent' }),
    });
    try {
      proxy.delay(1_200);
      await eventually(async () => E.isRight(await distant.append(someStream(), noStream, [someEvent()])));
    } finally {
      await distant.close();
      await proxy.close();
    }
  });

  it('answers a call that repeats its append after a restart of the server, and others meanwhile', async () => {
    const events = [someEvent()];
    const stream = someStream();
    const first = await mustAppend(store, stream, noStream, events);
    await double.kill();
    await double.start();
    const { refused } = await loadDuring(async () => {
      await eventually(async () => E.isRight(await store.append(stream, noStream, events)));
      for (let repeat = 0; repeat < 20; repeat += 1) {
        await Promise.all([double.pause(50), mustAppend(store, stream, noStream, events)]);
      }
    });
    assert.equal(refused, 0);
    assert.deepEqual(await mustAppend(store, stream, noStream, events), first);
  });

  it(`is unavailable for the 20 s that it is frozen, and not for a second longer ${long}`, async () => {
    const { refused } = await loadDuring(() => frozenFor(20_000));
    assert.ok(refused > clients, `${refused}`);
    await sleep(1_500);
    await mustAppend(store, someStream(), noStream, [someEvent()]);
    assert.deepEqual(lines, ['warn', 'info']);
  });
});
