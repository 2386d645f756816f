import assert from 'node:assert/strict';
import { join } from 'node:path';
import { CallLimit, immediate } from '#app/stores/call-limit.ts';
import { limited } from '#app/stores/limited.ts';
import * as tables from '#app/stores/port-limits.ts';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import { openGridFsBlobStore } from '#blob-store/blob-store.gridfs.ts';
import { DigestFilesInFolder } from '#digests/digest-files.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { openSqliteEventReader } from '#event-store/sqlite/reader.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { openMongoDbLeaseStore } from '#leases/lease-store.mongodb.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { openMongoDbSubjectKeys } from '#personal-data/subject-keys.mongodb.ts';
import { openSqliteSubjectKeys } from '#personal-data/subject-keys.sqlite.ts';
import { openMongoDbReadStore } from '#read-store/mongodb/mongodb-read-store.ts';
import { openMongoDbReadStoreWriter } from '#read-store/mongodb/mongodb-read-store-writer.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { maxSilenceMs } from '#read-store/sqlite/writer-thread.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import { openMongoDbResponseStore } from '#responses/mongodb/mongodb-response-store.ts';
import { openSqliteResponseStore } from '#responses/sqlite/sqlite-response-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { openMongoDbCallLog } from '#usage/call-log/call-log.mongodb.ts';
import { openSqliteCallLog } from '#usage/call-log/call-log.sqlite.ts';
import { openMongoDbDeliveryLog } from '#webhooks/delivery-log.mongodb.ts';
import { openSqliteDeliveryLog } from '#webhooks/delivery-log.sqlite.ts';
import { Random } from '../../worlds/random.ts';
import { SimulatedTime } from '../../worlds/simulated-time.ts';

type AnyLimits = Readonly<Record<string, unknown>>;

const limitsOf = new Map(Object.entries(tables).map(([table, { calls }]) => [table, calls as AnyLimits]));
const log = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

/** What an adapter has for its opener alone. */
const ofOpener = new Set(['started']);

/** The public members of an adapter. */
function membersOf(adapter: object): ReadonlyArray<string> {
  const members: string[] = [];
  for (let level = adapter; level !== Object.prototype && level !== null; level = Object.getPrototypeOf(level))
    members.push(...Object.getOwnPropertyNames(level));
  return members.filter((name) => name !== 'constructor' && !ofOpener.has(name));
}

describe('The table of the limits of ports', () => {
  it('has a limit for each method of the adapters of both pairs', async () => {
    await using opened = new AsyncDisposableStack();
    const folder = temporaryFolder();
    opened.defer(() => folder.remove());
    const writer = new SqliteWriter({ onFatal: assert.fail });
    opened.defer(() => writer.close());
    const connection = new MongoDbConnection({ url: 'mongodb://127.0.0.1:1/nowhere' });
    opened.defer(() => connection.close());
    const file = (name: string) => ({ file: join(folder.path, name), writer });
    const open = <Adapter extends { close(): Promise<void> }>(adapter: Adapter): Adapter => {
      opened.defer(() => adapter.close());
      return adapter;
    };
    const embeddedLog = open(await openSqliteEventStore({ file: file('events.db').file }));
    const records = open(openMongoDbRecordStore({ connection }));
    const embeddedWriter = open(openSqliteReadStoreWriter(file('read.db').file, () => undefined));
    const adapters: ReadonlyArray<readonly [table: keyof typeof tables, adapter: object]> = [
      ['embeddedLogLimits', embeddedLog],
      ['eventReaderLimits', open(openSqliteEventReader({ ...file('events.db'), wake: embeddedLog.changePort() }))],
      [
        'serverLogLimits',
        open(openEventStoreDbEventStore({ url: 'esdb://127.0.0.1:1?tls=false', streamPrefix: '', log })),
      ],
      ['embeddedWriterLimits', embeddedWriter],
      ['sharedWriterLimits', open(openMongoDbReadStoreWriter({ connection, records }))],
      ['readStoreLimits', open(openSqliteReadStore(file('read.db').file))],
      ['readStoreLimits', open(openMongoDbReadStore({ connection, records }))],
      ['recordLimits', open(openSqliteRecordStore(file('records.db')))],
      ['recordLimits', records],
      ['leaseLimits', open(openMongoDbLeaseStore({ connection }))],
      ['blobLimits', open(await openFolderBlobStore(join(folder.path, 'blobs')))],
      ['blobLimits', open(openGridFsBlobStore({ connection }))],
      ['subjectKeyLimits', open(openSqliteSubjectKeys(file('keys.db')))],
      ['subjectKeyLimits', open(openMongoDbSubjectKeys({ connection }))],
      ['deliveryLogLimits', open(openSqliteDeliveryLog(file('deliveries.db')))],
      ['deliveryLogLimits', open(openMongoDbDeliveryLog({ connection }))],
      ['callLogLimits', open(openSqliteCallLog(file('calls.db')))],
      ['callLogLimits', open(openMongoDbCallLog({ connection }))],
      ['responseLimits', open(openSqliteResponseStore({ ...file('responses.db'), hasRoomFor: async () => true }))],
      ['responseLimits', open(openMongoDbResponseStore({ connection }))],
      ['digestFileLimits', new DigestFilesInFolder(folder.path)],
    ];

    const missing = adapters.flatMap(([table, adapter]) => {
      const limits = limitsOf.get(table) ?? {};
      return membersOf(adapter)
        .filter((name) => limits[name] === undefined)
        .map((name) => `${table}: ${name}`);
    });
    assert.deepEqual(missing, []);
    const checked = new Set(adapters.map(([table]) => table));
    assert.deepEqual(
      Object.keys(tables).filter((table) => !checked.has(table as keyof typeof tables)),
      ['patientLogLimits'],
    );
  });

  it('settles each call of an adapter that never answers', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const left = new Set<string>();
    for (const [table, calls] of limitsOf) {
      callAll(limited(silentPort(calls), { name: table, calls }), calls, (name, answer) => {
        const what = `${table}.${name}`;
        left.add(what);
        const check = (error: unknown) => {
          left.delete(what);
          assert.equal(error instanceof UnavailableError, !name.endsWith('waitPast'), `${what}: ${error}`);
        };
        answer.then(() => check(null), check);
      });
    }
    assert.ok(left.size > 100);
    await time.pass(maxSilenceMs);
    const ofThread = Object.keys(tables.embeddedWriterLimits.calls).map((name) => `embeddedWriterLimits.${name}`);
    assert.deepEqual(
      ofThread.filter((name) => !left.has(name)),
      [],
      'the thread itself ends its calls when it is silent',
    );
    await time.pass(3_600_000);
    assert.deepEqual([...left], ['embeddedLogLimits.append', 'serverLogLimits.append']);
  });
});

/** Parameters by which limits are computed. */
const given: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  waitPast: [0, new AbortController().signal],
  readPage: [{ isFresh: true }],
  put: ['notes', new Map()],
  commit: [[]],
  read: [{}, []],
};

function callAll(port: object, limits: AnyLimits, onCall: (name: string, answer: Promise<unknown>) => void): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (limit === immediate) continue;
    const member: unknown = Reflect.get(port, name);
    if (typeof member === 'function') onCall(name, member(...(given[name] ?? [])));
    else callAll(member as object, limit as AnyLimits, (inner, answer) => onCall(`${name}.${inner}`, answer));
  }
}

/** A port none of whose calls is ever answered. */
function silentPort(limits: AnyLimits): object {
  const isPort = (limit: unknown) => typeof limit === 'object' && !(limit instanceof CallLimit);
  return Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [
      name,
      isPort(limit) ? silentPort(limit as AnyLimits) : () => new Promise(() => undefined),
    ]),
  );
}
