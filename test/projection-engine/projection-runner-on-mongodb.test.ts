import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { openMongoDbReadStore } from '#read-store/mongodb/mongodb-read-store.ts';
import { openMongoDbReadStoreWriter } from '#read-store/mongodb/mongodb-read-store-writer.ts';
import type { ReadStoreWriter } from '#read-store/read-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually, InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { describeOnFerretDb } from '#test/support/service/ferretdb.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';
import {
  caughtUp,
  documentsFromZero,
  documentsOf,
  history,
  rebuildRequest,
  runFlowsAndVersions,
} from './hosting/flows-and-versions.ts';

const timeoutMilliseconds = 500;

describeOnFerretDb('projection runner on MongoDB', (ferret) => {
  let url: string;
  let events: InMemoryEventStore;
  let opened: AsyncDisposableStack;

  beforeEach(() => {
    url = ferret.newUrl();
    events = new InMemoryEventStore();
    opened = new AsyncDisposableStack();
  });
  afterEach(() => opened.disposeAsync());

  const openReader = () => {
    const reader = openMongoDbReadStore({ url, timeoutMilliseconds });
    opened.defer(() => reader.close());
    return reader;
  };
  const run = async (at = url, fence = 0) => {
    const writer = openMongoDbReadStoreWriter({ url: at, timeoutMilliseconds, fence });
    opened.defer(() => writer.close());
    const runner = await runFlowsAndVersions(events, writer);
    opened.defer(() => runner.close().catch(() => undefined));
    return runner;
  };
  const liveOnce = async (writer: ReadStoreWriter) => {
    const runner = await runFlowsAndVersions(events, writer).catch(() => null);
    if (runner === null) return 'cut off';
    await Promise.race([caughtUp(runner, events), runner.finished]).catch(() => undefined);
    return runner.close().then(
      () => 'to the end',
      () => 'cut off',
    );
  };
  const assertAsFromZero = async () =>
    assert.deepEqual(await documentsOf(openReader()), await documentsFromZero(events));

  it('fills and follows as it does on SQLite', async () => {
    events.append(...history(100));
    const runner = await run();
    await caughtUp(runner, events);
    for (let from = 100; from < 160; from += 20) {
      events.append(...history(20, from));
      await caughtUp(runner, events);
    }
    events.append(rebuildRequest);
    await eventually('it is rebuilt', () => runner.status().every(({ state }) => state === 'running'));
    await caughtUp(runner, events);
    await assertAsFromZero();
  });

  it('ends in the documents of a rebuild from zero, wherever it is cut off between two calls', async () => {
    let cutOff = 0;
    for (let round = 0; round < 24; round += 1) {
      events.append(...history(10, round * 10));
      if (round % 4 === 2) events.append(rebuildRequest);
      const proxy = new TcpProxy(ferret.port);
      await proxy.listen();
      // Greeting the server takes two requests of each connection: the cuts fall from the first call to the last.
      proxy.cutAfter(3 + round * 2);
      const writer = mortal(openMongoDbReadStoreWriter({ url: proxy.through(url), timeoutMilliseconds: 100 }));
      const lived = await Promise.race([liveOnce(writer), sleep(150, 'not to the end')]);
      if (lived !== 'to the end') cutOff += 1;
      await writer.close();
      await proxy.close();
    }
    assert.ok(cutOff > 6, `cut off ${cutOff} times`);
    const runner = await run();
    await caughtUp(runner, events);
    await assertAsFromZero();
  });

  it('waits out a server that is stopped and started, while readers are told that it is unavailable', async () => {
    events.append(...history(50));
    const runner = await run();
    await caughtUp(runner, events);
    const reader = openReader();
    await documentsOf(reader);
    await ferret.stop();
    events.append(...history(50, 50));
    await assert.rejects(reader.get('flows', 'f1'), UnavailableError);
    await ferret.start();
    await caughtUp(runner, events);
    await assertAsFromZero();
  });

  it('waits out a server that is killed in the middle of its writing', async () => {
    const runner = await run();
    for (let round = 0; round < 3; round += 1) {
      events.append(...history(40, round * 40));
      await ferret.kill();
      await ferret.start();
    }
    await caughtUp(runner, events);
    await assertAsFromZero();
  });

  it('waits out a server that is frozen, and answers within the limit meanwhile', async () => {
    events.append(...history(30));
    const runner = await run();
    await caughtUp(runner, events);
    const reader = openReader();
    await documentsOf(reader);
    ferret.freeze();
    try {
      events.append(...history(30, 30));
      const list = () => reader.list('flows', {}, { limit: 10, maxBytes: 1e6 });
      // On a busy machine its threads may answer once more before the signal has reached them.
      await eventually('it is frozen', () =>
        list().then(
          () => false,
          () => true,
        ),
      );
      const asked = performance.now();
      await assert.rejects(list(), UnavailableError);
      assert.ok(performance.now() - asked < timeoutMilliseconds + 2000);
    } finally {
      ferret.thaw();
    }
    await caughtUp(runner, events);
    await assertAsFromZero();
  });

  it('goes on with a server whose answers come late', async () => {
    const proxy = new TcpProxy(ferret.port);
    await proxy.listen();
    opened.defer(() => proxy.close());
    proxy.delay(40);
    const runner = await run(proxy.through(url));
    events.append(...history(60));
    await caughtUp(runner, events);
    await assertAsFromZero();
  });

  it('is refused once a runner with a newer lease has begun, and harms nothing', async () => {
    events.append(...history(40));
    const older = await run(url, 1);
    await caughtUp(older, events);
    const newer = await run(url, 2);
    events.append(...history(40, 40));
    await assert.rejects(older.finished, FencedError);
    await caughtUp(newer, events);
    await assertAsFromZero();
  });
});

/** A writer whose process is dead once it is closed: what calls it then ends, instead of waiting for better times. */
function mortal(writer: ReadStoreWriter): ReadStoreWriter {
  let dead = false;
  return new Proxy(writer, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: ReadonlyArray<unknown>) => {
        if (dead) return Promise.reject(new Error('The process is dead.'));
        dead = name === 'close';
        return member.apply(target, args);
      };
    },
  });
}
