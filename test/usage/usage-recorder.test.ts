import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import type { UsageEvents } from '#domain/usage/events.ts';
import { usageEvents } from '#domain/usage/events.ts';
import type { AppendFailure, EventStore } from '#event-store/event-store.ts';
import { verifyChain } from '#event-store/hash-chain.ts';
import { openSqliteEventStore, type SqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { RefusedWriteError } from '#shared/errors/unavailable-error.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';
import { UsageRecorder, type UsageRecorderOptions } from '#usage/usage-recorder.ts';
import { callRecord, failedAttempts } from './call-records.ts';

type Usage = UsageEvents['UsageRecorded'];

const down: AppendFailure = { kind: 'unavailable', detail: 'It is down.', retryAfterSeconds: 1 };

describe('UsageRecorder', () => {
  let store: AppendableEventStore;
  let said: string[];
  let time: string;
  const log = {
    info: (_: object, message: string) => void said.push(`info ${message}`),
    warn: (_: object, message: string) => void said.push(`warn ${message}`),
    error: (_: object, message: string) => void said.push(`error ${message}`),
  };
  const open = (options: Partial<UsageRecorderOptions> = {}) =>
    new UsageRecorder({
      events: store,
      node: 'n1',
      log,
      storeIntervalMs: 5,
      now: () => new Date(time),
      ...options,
    });
  const stored = () => store.log.map(({ data }) => data as unknown as Usage);
  const callsStored = () =>
    stored()
      .flatMap(({ usage }) => usage)
      .reduce((sum, { calls }) => sum + calls, 0);

  beforeEach(() => {
    store = new AppendableEventStore();
    said = [];
    time = '2026-01-05T09:30:00.000Z';
  });

  it('appends once what an append that is answered too late has stored', async () => {
    using simulated = new SimulatedTime(new Random(1)).install();
    const late = Promise.withResolvers<void>();
    const outcomes = new Map<string, ReturnType<EventStore['append']>>();
    const events: Pick<EventStore, 'append'> = {
      // A repetition gets the first answer.
      append: async (stream, revision, appended) => {
        const id = appended.map((event) => event.id).join();
        const isFirst = outcomes.size === 0;
        if (!outcomes.has(id)) outcomes.set(id, store.append(stream, revision, appended));
        if (isFirst) await late.promise;
        return outcomes.get(id) ?? assert.fail(id);
      },
    };
    const recorder = open({ events, storeIntervalMs: 5_000 });
    recorder.add([callRecord()]);
    await simulated.pass(20_000);
    recorder.add([callRecord()]);
    await simulated.pass(30_000);
    late.resolve();
    await simulated.pass(10_000);
    await recorder.close();
    assert.deepEqual([callsStored(), recorder.callsLost], [2, 0]);
  });

  it('appends one event for the calls of an interval, on the stream of its day and node', async () => {
    const recorder = open();
    recorder.add([callRecord(), callRecord({ keyId: 'k2' })]);
    time = '2026-01-05T09:30:05.000Z';
    recorder.add([callRecord()]);
    assert.equal(store.log.length, 0);
    await eventually(() => store.log.length === 1, 'it is stored');
    await recorder.close();
    const [event] = store.log;
    assert.equal(event?.stream, 'usage-2026-01-05-n1');
    assert.equal(event.type, 'UsageRecorded');
    assert.ok(E.isRight(usageEvents.UsageRecorded.decode(event.data)));
    const [{ node, from, until, callsLost, usage } = assert.fail('nothing is stored')] = stored();
    assert.deepEqual([node, from, until, callsLost], ['n1', '2026-01-05T09:30:00.000Z', '2026-01-05T09:30:05.000Z', 0]);
    assert.deepEqual(
      usage.map(({ calls }) => calls),
      [2, 1],
    );
    const { actor, schemaVersion, time: at, ...metadata } = event.metadata;
    assert.deepEqual([actor.keyId, schemaVersion, at], ['system', 4, '2026-01-05T09:30:05.000Z']);
    assert.equal('hash' in metadata, false);
    assert.equal(store.log.length, 1);
    assert.deepEqual(said, []);
  });

  it('appends nothing without calls', async () => {
    const recorder = open();
    recorder.add([callRecord()]);
    await eventually(() => store.log.length === 1, 'it is stored');
    recorder.add([]);
    await recorder.close();
    assert.equal(store.log.length, 1);
  });

  it('appends what is in memory when it closes, and accepts nothing more', async () => {
    const recorder = open({ storeIntervalMs: 60_000 });
    recorder.add([callRecord()]);
    await recorder.close();
    assert.equal(callsStored(), 1);
    recorder.add([callRecord()]);
    await recorder.close();
    assert.equal(callsStored(), 1);
    assert.equal(recorder.callsLost, 1);
  });

  it('begins another stream with another day', async () => {
    const recorder = open();
    recorder.add([callRecord()]);
    await eventually(() => store.log.length === 1, 'it is stored');
    recorder.add([callRecord()]);
    await eventually(() => store.log.length === 2, 'it is stored');
    time = '2026-01-06T00:00:01.000Z';
    recorder.add([callRecord()]);
    await recorder.close();
    assert.deepEqual(
      store.log.map(({ stream, revision }) => [stream, revision]),
      [
        ['usage-2026-01-05-n1', 0],
        ['usage-2026-01-05-n1', 1],
        ['usage-2026-01-06-n1', 0],
      ],
    );
  });

  it('adds up calls during an outage, logs the outage once, and stores everything afterwards', async () => {
    let tries = 0;
    let isDown = true;
    store.beforeAppend = async () => {
      tries += 1;
      return isDown ? down : null;
    };
    const recorder = open();
    for (let wanted = 1; wanted <= 4; wanted += 1) {
      recorder.add([callRecord(), callRecord()]);
      await eventually(() => tries >= wanted, 'it is tried');
    }
    assert.deepEqual(said, ['warn The event store in which usage is recorded cannot be used and is tried again']);
    isDown = false;
    await eventually(() => callsStored() === 8, 'all is stored');
    await recorder.close();
    // A sent event stays unchanged; all later calls form one more event.
    assert.deepEqual(
      stored().map(({ usage }) => usage.map(({ calls }) => calls)),
      [[2], [6]],
    );
    assert.equal(recorder.callsLost, 0);
    assert.equal(said.at(-1), 'info The event store in which usage is recorded can be used again');
  });

  it('counts the calls that found no room during an outage', async () => {
    store.beforeAppend = async () => down;
    const recorder = open({ maxEntries: 2 });
    recorder.add([callRecord()]);
    await eventually(() => said.length === 1, 'it is tried');
    recorder.add(['a', 'b', 'c', 'd', 'a'].map((keyId) => callRecord({ keyId })));
    assert.equal(recorder.callsLost, 2);
    store.beforeAppend = async () => null;
    await eventually(() => callsStored() === 4, 'all is stored');
    assert.deepEqual(
      stored().map(({ callsLost }) => callsLost),
      [0, 2],
    );
    await recorder.close();
    assert.equal(recorder.callsLost, 2);
  });

  it('logs the unstored usage at its close', async () => {
    store.beforeAppend = async () => down;
    const recorder = open({ maxEntries: 1 });
    recorder.add([callRecord()]);
    await eventually(() => said.length === 1, 'it is tried');
    recorder.add([callRecord(), callRecord({ keyId: 'k2' })]);
    await recorder.close();
    assert.equal(recorder.callsLost, 3);
    assert.equal(said.at(-1), 'error The usage of calls could not be recorded and is lost');
  });

  it('halves events that are too large for one append, and drops a single sum that is too large', async () => {
    const most = 3_000;
    store.beforeAppend = async ({ events }) => {
      const bytes = events.reduce((sum, { data }) => sum + data.length, 0);
      return bytes > most ? { kind: 'append-too-large', bytes, maxBytes: most } : null;
    };
    const recorder = open();
    const keys = Array.from({ length: 20 }, (_, index) => `key${index}`);
    recorder.add([...keys, 'x'.repeat(most)].map((keyId) => callRecord({ keyId })));
    await recorder.close();
    assert.deepEqual(
      stored()
        .flatMap(({ usage }) => usage)
        .map(({ keyId }) => keyId),
      keys,
    );
    assert.equal(recorder.callsLost, 1);
    assert.deepEqual(said, ['error The usage of calls is too large to be recorded and is lost']);
  });

  it('continues after a store that throws', async () => {
    let tries = 0;
    store.beforeAppend = async () => {
      tries += 1;
      if (tries < 3) throw new Error('It has a bug.');
      return null;
    };
    const recorder = open();
    recorder.add([callRecord()]);
    await eventually(() => callsStored() === 1, 'it is stored');
    await recorder.close();
    assert.equal(said.length, 2);
  });

  it('keeps all sums when the store answers with an error that is not about them', async () => {
    let tries = 0;
    store.beforeAppend = async () => {
      tries += 1;
      if (tries < 6) throw Object.assign(new Error('not authorized'), { name: 'MongoServerError', code: 13 });
      return null;
    };
    const recorder = open();
    recorder.add([callRecord()]);
    await eventually(() => callsStored() === 1, 'it is stored');
    await recorder.close();
    assert.equal(recorder.callsLost, 0);
  });

  it('drops a sum that the store refuses', async () => {
    store.beforeAppend = async () => {
      throw new RefusedWriteError('It does not fit.');
    };
    const recorder = open();
    recorder.add([callRecord()]);
    await eventually(() => recorder.callsLost === 1, 'it is dropped');
    await recorder.close();
  });

  it('stores all other sums when the store throws for one, and counts and logs its calls', async () => {
    store.beforeAppend = async ({ events }) => {
      if (events.some(({ data }) => data.includes('bad'))) throw new TypeError('quotes bad');
      return null;
    };
    const recorder = open();
    recorder.add(['a', 'b', 'bad', 'c'].map((keyId) => callRecord({ keyId })));
    await eventually(() => callsStored() === 3, 'the others are stored');
    recorder.add([callRecord({ keyId: 'd' })]);
    await eventually(() => callsStored() === 4, 'later ones are stored');
    await recorder.close();
    assert.equal(recorder.callsLost, 1);
    assert.ok(said.includes('error The usage of calls cannot be recorded and is lost'), said.join());
  });

  it('splits failed attempts that are too large for one append, and loses none of them', async () => {
    const most = 4_000;
    store.beforeAppend = async ({ events }) => {
      const bytes = events.reduce((sum, { data }) => sum + data.length, 0);
      return bytes > most ? { kind: 'append-too-large', bytes, maxBytes: most } : null;
    };
    const recorder = open();
    const failed = Array.from({ length: 30 }, (_, index) => ({ target: 'p/m', errorType: `error${index}` }));
    const attempts = failedAttempts(...failed);
    recorder.add(Array.from({ length: 8 }, (_, index) => callRecord({ keyId: `key${index}`, attempts })));
    await recorder.close();
    assert.ok(store.log.length > 1);
    const tries = stored()
      .flatMap(({ usage }) => usage)
      .flatMap((entry) => entry.failedTries)
      .reduce((sum, each) => sum + each.tries, 0);
    assert.deepEqual([tries, recorder.callsLost], [8 * 30, 0]);
  });

  it('splits many sums into several events', async () => {
    const recorder = open();
    recorder.add(Array.from({ length: 600 }, (_, index) => callRecord({ keyId: `key${index}` })));
    await recorder.close();
    assert.deepEqual(
      stored().map(({ usage }) => usage.length),
      [250, 250, 100],
    );
  });

  it('continues when another writer has appended to its stream', async () => {
    const event = { id: '7e0f4a4e-93a3-4b0a-8a52-5a53d8a3a1b4', type: 'X', data: '{}', metadata: '{}' };
    await store.append('usage-2026-01-05-n1', -1, [event]);
    const recorder = open();
    recorder.add([callRecord()]);
    await eventually(() => store.log.length === 2, 'it is stored');
    await recorder.close();
  });

  describe('on a real store', () => {
    let folder: string;
    let real: SqliteEventStore;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'switchyard-usage-'));
      real = await openSqliteEventStore({ file: join(folder, 'events.db') });
    });
    afterEach(async () => {
      await real.close();
      await rm(folder, { recursive: true });
    });

    it('counts usage once that was stored although the response was lost', async () => {
      let appends = 0;
      const losing: Pick<EventStore, 'append'> = {
        append: async (stream, revision, events) => {
          appends += 1;
          const appended = await real.append(stream, revision, events);
          return appends % 2 === 1 ? E.left(down) : appended;
        },
      };
      const recorder = open({ events: losing });
      for (let round = 1; round <= 3; round += 1) {
        recorder.add([callRecord()]);
        await eventually(() => appends === 2 * round, 'it is settled');
      }
      await recorder.close();
      const raw = real.readRaw('usage-2026-01-05-n1', 0);
      assert.equal(raw.length, 3);
      assert.equal(verifyChain(raw), null);
    });
  });
});
