import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { upcasters } from '#domain/upcasters.ts';
import { relativeAccuracy } from '#domain/usage/latency-bins.ts';
import { type EventStore, type EventToAppend, noStream, type StoredEvent } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { verifyChain } from '#event-store/hash-chain.ts';
import { newestVersion, upcastWith } from '#event-store/recorded-event.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import { readLogFile } from '#event-store/transfer/log-file/log-file.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { mustAppend, someEvent, someMetadata } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { callRecord } from '#test/usage/call-records.ts';
import { archiveSource } from '#usage/archive/archive-file.ts';
import { readClosedDay, usageDayStream } from '#usage/archive/closed-day.ts';
import { UsageArchiveError } from '#usage/archive/day-closing.ts';
import { UsageArchive } from '#usage/archive/usage-archive.ts';
import { UsageWindow } from '#usage/usage-recorder.ts';
import { usageRows } from './usage-rows.ts';

type Store = EventStore & StreamRemoval & Pick<RawLog, 'readRawLog'>;

interface Engine {
  readonly name: string;
  readonly open: (folder: string) => Promise<{ readonly store: Store; readonly close: () => Promise<void> }>;
}

const upcast = upcastWith(upcasters);

const engines: ReadonlyArray<Engine> = [
  {
    name: 'SQLite',
    open: async (folder) => {
      const store = await openSqliteEventStore({ file: join(folder, 'events.db'), upcast });
      return { store, close: () => store.close() };
    },
  },
  {
    name: 'EventStoreDB (double)',
    open: async () => {
      const double = await EventStoreDbDouble.start();
      const log = pino({ level: 'silent' });
      const store = openEventStoreDbEventStore({ url: double.url, streamPrefix: 'test.', upcast, log });
      const close = async () => {
        await store.close();
        await double.kill();
      };
      return { store, close };
    },
  },
];

const { prevHash: _prevHash, hash: _hash, ...unsealed } = someMetadata;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const { signal } = new AbortController();
const day = '2026-01-05';
const now = () => new Date('2026-01-09T12:00:00.000Z');
const before = new Date('2026-01-07T00:00:00.000Z');

/** An event of metering, as a node records it. */
function recorded(node: string, until: string, ...calls: ReadonlyArray<Partial<CallRecord>>): EventToAppend {
  const window = new UsageWindow(100);
  for (const call of calls) window.add(callRecord(call));
  const data = { node, from: until, until, relativeAccuracy, callsLost: 1, usage: window.entries() };
  const metadata = { ...unsealed, time: until, schemaVersion: newestVersion(upcasters, 'UsageRecorded') };
  return {
    id: randomUUID(),
    type: 'UsageRecorded',
    data: JSON.stringify(data),
    metadata: JSON.stringify(metadata),
  };
}

for (const engine of engines) {
  describe(`UsageArchive on ${engine.name}`, function () {
    this.timeout(60_000);
    let folder: string;
    let store: Store;
    let blobs: BlobStore;
    let close: () => Promise<void>;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'switchyard-archive-'));
      ({ store, close } = await engine.open(folder));
      blobs = await openFolderBlobStore(join(folder, 'blobs'));
    });

    afterEach(async () => {
      await blobs.close();
      await close();
      await rm(folder, { recursive: true, force: true });
    });

    const archive = (on: Partial<{ events: Store; blobs: BlobStore; maxAppendBytes: number }> = {}) =>
      new UsageArchive({ events: store, blobs, maxAppendBytes: 900 * 1024, log: quiet, now, ...on });

    const broken = { target: 'a/b', provider: 'a', tokens: { input: 5, output: 6 }, audioSeconds: null, cost: 0.25 };

    /** Two days of two nodes. The streams of the first day have several events. */
    const meterSome = async () => {
      await mustAppend(store, 'usage-2026-01-05-n1', noStream, [
        recorded(
          'n1',
          '2026-01-05T09:59:59.999Z',
          {},
          { totalMs: 3_000 },
          { outcome: 'failed', cost: null, brokenAttempts: [broken] },
        ),
        recorded('n1', '2026-01-05T10:00:00.000Z', { keyId: 'k2', totalMs: 7 }),
      ]);
      await mustAppend(store, 'usage-2026-01-05-n2', noStream, [
        recorded('n2', '2026-01-05T09:10:00.000Z', { totalMs: 55 }, { model: 'small', target: null }),
      ]);
      await mustAppend(store, 'usage-2026-01-08-n1', noStream, [recorded('n1', '2026-01-08T09:10:00.000Z', {})]);
      await mustAppend(store, 'thing-1', noStream, [someEvent()]);
    };

    const wholeLog = () => store.readRawLog(0, 10_000);
    /** The log of a scavenged server, without the events that its streams no longer have. */
    const scavengedLog = async () => {
      const kept: StoredEvent[] = [];
      for (const event of await wholeLog()) {
        const [found] = await store.readRaw(event.stream, event.revision, 1);
        if (found?.id === event.id) kept.push(event);
      }
      return kept;
    };
    const meteringIn = async () => (await scavengedLog()).filter(({ type }) => type === 'UsageRecorded');
    const archives = () => readdir(join(folder, 'blobs/files'));
    const archivedEvents = async () => {
      const events: StoredEvent[] = [];
      for (const id of await archives()) {
        const source = await archiveSource(id, blobs);
        for await (const lines of readLogFile(source.open(), id)) events.push(...lines.map(({ event }) => event));
      }
      return events;
    };
    const idsOf = (events: ReadonlyArray<StoredEvent>) => events.map(({ id }) => id).toSorted();

    it('moves the metering of past days into a file, and keeps later days and all other streams', async () => {
      await meterSome();
      const metered = (await wholeLog()).filter(({ stream }) => stream.startsWith('usage-2026-01-05'));
      const archived = await archive().archive(before, signal);
      assert.deepEqual(
        archived.map(({ bytes: _bytes, ...others }) => others),
        [{ day, streams: 2, events: 3 }],
      );
      assert.deepEqual(
        (await meteringIn()).map(({ stream }) => stream),
        ['usage-2026-01-08-n1'],
      );
      assert.deepEqual(idsOf(await archivedEvents()), idsOf(metered));
      assert.equal((await store.readRaw('thing-1', 0, 10)).length, 1);
    });

    it('closes the day with the sums of a read model of its streams, in a valid chain', async () => {
      await meterSome();
      const rows = usageRows(await wholeLog());
      await archive().archive(before, signal);
      assert.deepEqual(usageRows(await wholeLog()), rows);
      assert.deepEqual(usageRows(await scavengedLog()), rows);
      const closings = await store.readRaw(usageDayStream(day), 0, 10);
      assert.equal(verifyChain(closings), null);
      const { callsLost, streams } = await readClosedDay(store, day);
      assert.equal(callsLost, 3);
      assert.deepEqual([...streams.keys()], ['usage-2026-01-05-n1', 'usage-2026-01-05-n2']);
    });

    it('changes nothing when it is run again', async () => {
      await meterSome();
      await archive().archive(before, signal);
      const [log, files] = [await wholeLog(), await archives()];
      assert.deepEqual(await archive().archive(before, signal), []);
      assert.deepEqual(await wholeLog(), log);
      assert.deepEqual(await archives(), files);
    });

    it('adds later records of a node for a closed day to the sums, and archives them, too', async () => {
      await meterSome();
      await archive().archive(before, signal);
      await mustAppend(store, 'usage-2026-01-05-n2', 0, [recorded('n2', '2026-01-05T09:59:00.000Z', {}, {})]);
      const late = (await meteringIn()).filter(({ stream }) => stream === 'usage-2026-01-05-n2');
      const rows = usageRows(await wholeLog());
      const archived = await archive().archive(before, signal);
      assert.deepEqual(
        archived.map(({ bytes: _bytes, ...others }) => others),
        [{ day, streams: 1, events: 1 }],
      );
      assert.deepEqual(usageRows(await wholeLog()), rows);
      assert.deepEqual(usageRows(await scavengedLog()), rows);
      assert.equal((await readClosedDay(store, day)).callsLost, 4);
      assert.equal((await archivedEvents()).filter(({ id }) => id === late[0]?.id).length, 1);
      assert.equal((await archivedEvents()).length, 4);
    });

    it('counts and archives events that are appended during its run', async () => {
      await meterSome();
      let isLate = false;
      const events = withHook(store, {
        removeStream: async () => {
          if (isLate) return;
          isLate = true;
          await mustAppend(store, 'usage-2026-01-05-n1', 1, [recorded('n1', '2026-01-05T09:59:00.000Z', {}, {})]);
        },
      });
      await archive({ events }).archive(before, signal);
      const rows = usageRows(await scavengedLog());
      assert.deepEqual(rows, usageRows(await wholeLog()));
      const first = rows['2026-01-05T09:00:00.000Z ck8d2v6z0x4q9m3t7w1b5n2p gpt-large openai/gpt-4.1'];
      assert.equal(first?.calls, 6);
      assert.equal(new Set(idsOf(await archivedEvents())).size, 4);
      assert.equal((await archivedEvents()).length, 4);
    });

    it('divides the sums of a large day among events, but never those of one key, model and target', async () => {
      const calls = Array.from({ length: 60 }, (_, number) => ({ keyId: `k${number % 20}`, model: `m${number % 3}` }));
      await mustAppend(store, 'usage-2026-01-05-n1', noStream, [
        recorded('n1', '2026-01-05T09:00:00.000Z', ...calls),
        recorded('n1', '2026-01-05T10:00:00.000Z', ...calls),
      ]);
      await mustAppend(store, 'thing-1', noStream, [someEvent()]);
      const rows = usageRows(await wholeLog());
      await archive({ maxAppendBytes: 8_192 }).archive(before, signal);
      const closings = await store.readRaw(usageDayStream(day), 0, 100);
      assert.ok(closings.length > 5, `${closings.length} events`);
      assert.equal(verifyChain(closings), null);
      assert.deepEqual(usageRows(await scavengedLog()), rows);
    });

    it('neither loses nor repeats anything when it is interrupted before or after any step', async () => {
      await meterSome();
      await mustAppend(store, 'usage-2026-01-06-n1', noStream, [recorded('n1', '2026-01-06T09:10:00.000Z', {})]);
      await mustAppend(store, 'thing-2', noStream, [someEvent()]);
      const metered = (await wholeLog()).filter(({ stream }) => /^usage-2026-01-0[56]/.test(stream));
      const rows = usageRows(await wholeLog());
      let cuts = 0;
      for (let step = 0; ; step += 1) {
        const cut = cutOff(store, blobs, step);
        const isCut = await archive({ ...cut, maxAppendBytes: 4_096 })
          .archive(before, signal)
          .then(
            () => false,
            (error: unknown) => {
              assert.ok(error instanceof UnavailableError, String(error));
              return true;
            },
          );
        const left = (await meteringIn()).filter(({ stream }) => /^usage-2026-01-0[56]/.test(stream));
        const held = new Set([...idsOf(left), ...idsOf(await archivedEvents())]);
        assert.deepEqual([...held].toSorted(), idsOf(metered));
        assert.deepEqual(usageRows(await scavengedLog()), rows);
        if (!isCut) break;
        cuts += 1;
      }
      assert.ok(cuts >= 6, `${cuts} cuts`);
      assert.deepEqual(idsOf(await archivedEvents()), idsOf(metered));
      assert.deepEqual(
        (await meteringIn()).map(({ stream }) => stream),
        ['usage-2026-01-08-n1'],
      );
    });

    it('removes nothing while an archive of the day is damaged', async () => {
      await meterSome();
      const halfway = withHook(store, {
        removeStream: async () => {
          throw new UnavailableError('cut off');
        },
      });
      await assert.rejects(archive({ events: halfway }).archive(before, signal), UnavailableError);
      const [id = ''] = await archives();
      const file = join(folder, 'blobs/files', id);
      await writeFile(file, (await readFile(file)).subarray(0, -20));
      await assert.rejects(archive().archive(before, signal), UsageArchiveError);
      assert.equal((await meteringIn()).length, 4);
    });

    it('stores no archive of a stream that was removed meanwhile', async () => {
      await meterSome();
      const events = withHook(store, {
        append: async () => {
          await store.removeStream('usage-2026-01-05-n2', 0);
        },
      });
      await assert.rejects(archive({ events }).archive(before, signal), UsageArchiveError);
      assert.deepEqual(await archives(), []);
    });
  });
}

type Hooks = Partial<Record<'append' | 'removeStream', () => Promise<void>>>;

/** A store that does something before a removal, or after an append. */
function withHook(store: Store, hooks: Hooks): Store {
  return {
    ...bound(store),
    append: async (...given) => {
      const appended = await store.append(...given);
      await hooks.append?.();
      return appended;
    },
    removeStream: async (stream, lastRevision) => {
      await hooks.removeStream?.();
      return store.removeStream(stream, lastRevision);
    },
  };
}

/** Stores of which one call is interrupted: an even step before the call, an odd step after it. */
function cutOff(store: Store, blobs: BlobStore, step: number): { readonly events: Store; readonly blobs: BlobStore } {
  let calls = 0;
  const through = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const call = calls;
    calls += 1;
    if (2 * call === step) throw new UnavailableError('cut off before');
    const result = await work();
    if (2 * call + 1 === step) throw new UnavailableError('cut off after');
    return result;
  };
  const events: Store = {
    ...bound(store),
    append: (...given) => through(() => store.append(...given)),
    removeStream: (...given) => through(() => store.removeStream(...given)),
  };
  return { events, blobs: { ...bound(blobs), put: (...given) => through(() => blobs.put(...given)) } };
}

/** The methods of an object of a class, which a spread leaves out. */
function bound<Target extends object>(target: Target): Target {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(target)).filter((name) => name !== 'constructor');
  const methods = names.map((name) => {
    const member: unknown = Reflect.get(target, name);
    return [name, typeof member === 'function' ? member.bind(target) : member];
  });
  return Object.fromEntries(methods) as Target;
}
