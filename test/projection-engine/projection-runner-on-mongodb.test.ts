import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadStoreWriter } from '#read-store/read-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { openCheckpointingWriter, openMongoDbReadStore } from '#test/support/service/mongodb-read-store.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';
import {
  caughtUp,
  documentsFromZero,
  documentsOf,
  history,
  rebuildRequest,
  runFlowsAndVersions,
} from './hosting/flows-and-versions.ts';

/** Long, because most of these tests check results and not times. */
const timeoutMs = 60_000;
/** The limit of a client whose server does not answer. */
const shortTimeoutMs = 500;
/** The length of a round whose connection is cut off. */
const roundMs = 150;

describeOnOwnMongoDb('ProjectionRunner on MongoDB', (mongoDb) => {
  let url: string;
  let events: InMemoryEventStore;
  let opened: AsyncDisposableStack;

  beforeEach(() => {
    url = mongoDb.newUrl();
    events = new InMemoryEventStore();
    opened = new AsyncDisposableStack();
  });
  afterEach(() => opened.disposeAsync());

  const openReader = (limitMs = timeoutMs) => {
    const reader = openMongoDbReadStore({ url, timeoutMs: limitMs });
    opened.defer(() => reader.close());
    return reader;
  };
  const run = async ({ at = url, fence = 0, limitMs = timeoutMs } = {}) => {
    const writer = openCheckpointingWriter({ url: at, timeoutMs: limitMs, fence });
    opened.defer(() => writer.close());
    const runner = await runFlowsAndVersions(events, writer);
    opened.defer(() => runner.close().catch(() => undefined));
    return runner;
  };
  const runUntilCutOff = async (writer: ReadStoreWriter) => {
    const runner = await runFlowsAndVersions(events, writer).catch(() => null);
    if (runner === null) return 'cut off';
    // A wait without this limit would go on after the round, and keep the file from its end.
    await Promise.race([caughtUp(runner, events, roundMs), runner.finished]).catch(() => undefined);
    return runner.close().then(
      () => 'to the end',
      () => 'cut off',
    );
  };
  const assertEqualsRebuildFromZero = async () =>
    assert.deepEqual(await documentsOf(openReader()), await documentsFromZero(events));

  it('fills and follows read models on MongoDB as on SQLite', async () => {
    events.append(...history(100));
    const runner = await run();
    await caughtUp(runner, events);
    for (let from = 100; from < 160; from += 20) {
      events.append(...history(20, from));
      await caughtUp(runner, events);
    }
    events.append(rebuildRequest);
    await eventually(() => runner.status().every(({ state }) => state === 'running'), 'the projection is rebuilt');
    await caughtUp(runner, events);
    await assertEqualsRebuildFromZero();
  });

  it('ends with the documents of a rebuild from zero, whichever of its calls to MongoDB is cut off', async () => {
    let cutOff = 0;
    for (let round = 0; round < 24; round += 1) {
      events.append(...history(10, round * 10));
      if (round % 4 === 2) events.append(rebuildRequest);
      const proxy = new TcpProxy(mongoDb.port);
      await proxy.listen();
      // The handshake takes two requests of each connection, so the cuts fall on every call from the first to the last.
      proxy.cutAfter(3 + round * 2);
      const writer = rejectingAfterClose(openCheckpointingWriter({ url: proxy.through(url), timeoutMs: 100 }));
      const outcome = await Promise.race([runUntilCutOff(writer), sleep(roundMs, 'not to the end')]);
      if (outcome !== 'to the end') cutOff += 1;
      await writer.close();
      await proxy.close();
    }
    assert.ok(cutOff > 6, `cut off ${cutOff} times`);
    const runner = await run();
    await caughtUp(runner, events);
    await assertEqualsRebuildFromZero();
  });

  it('waits for MongoDB while it is stopped and restarted, and readers get UnavailableError meanwhile', async () => {
    events.append(...history(50));
    const runner = await run({ limitMs: shortTimeoutMs });
    await caughtUp(runner, events);
    const reader = openReader(shortTimeoutMs);
    await mongoDb.stop();
    events.append(...history(50, 50));
    await assert.rejects(reader.get('flows', 'f1'), UnavailableError);
    await mongoDb.start();
    await caughtUp(runner, events);
    await assertEqualsRebuildFromZero();
  });

  it('waits for MongoDB when it is killed during a write', async () => {
    const runner = await run({ limitMs: shortTimeoutMs });
    for (let round = 0; round < 3; round += 1) {
      events.append(...history(40, round * 40));
      await mongoDb.kill();
      await mongoDb.start();
    }
    await caughtUp(runner, events);
    await assertEqualsRebuildFromZero();
  });

  it('waits for MongoDB while it is frozen, and readers get an answer within the limit', async () => {
    events.append(...history(30));
    const runner = await run({ limitMs: shortTimeoutMs });
    await caughtUp(runner, events);
    const reader = openReader(shortTimeoutMs);
    mongoDb.freeze();
    try {
      events.append(...history(30, 30));
      const list = () => reader.list('flows', {}, { limit: 10, maxBytes: 1e6 });
      // On a busy machine the server may answer once more before the signal reaches its threads.
      await eventually(
        () =>
          list().then(
            () => false,
            () => true,
          ),
        'it is frozen',
      );
      const asked = performance.now();
      await assert.rejects(list(), UnavailableError);
      assert.ok(performance.now() - asked < shortTimeoutMs + 10_000, 'it waited for longer than its limit');
    } finally {
      mongoDb.thaw();
    }
    await caughtUp(runner, events);
    await assertEqualsRebuildFromZero();
  });

  it('catches up on a MongoDB server that answers late', async () => {
    const proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    opened.defer(() => proxy.close());
    proxy.delay(40);
    const runner = await run({ at: proxy.through(url) });
    events.append(...history(60));
    await caughtUp(runner, events);
    await assertEqualsRebuildFromZero();
  });

  it('ends with FencedError once a runner with a newer token has begun, and damages no document', async () => {
    events.append(...history(40));
    const older = await run({ fence: 1 });
    await caughtUp(older, events);
    const newer = await run({ fence: 2 });
    events.append(...history(40, 40));
    await assert.rejects(older.finished, FencedError);
    await caughtUp(newer, events);
    await assertEqualsRebuildFromZero();
  });
});

/**
 * A writer whose calls fail once it is closed, as if its process had died, so that the runner ends instead of
 * retrying.
 */
function rejectingAfterClose(writer: ReadStoreWriter): ReadStoreWriter {
  let isClosed = false;
  return new Proxy(writer, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: ReadonlyArray<unknown>) => {
        if (isClosed) return Promise.reject(new Error('The process has died.'));
        isClosed = name === 'close';
        return member.apply(target, args);
      };
    },
  });
}
