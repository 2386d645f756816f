import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BSON, type Document, MongoClient } from 'mongodb';
import { takeOverEmbeddedRecords } from '#app/stores/take-over/embedded-records.ts';
import { takeOverMongoDbRecords } from '#app/stores/take-over/mongodb-records.ts';
import { allParts } from '#app/stores/take-over/take-over-records.ts';
import { RecordSnapshots, readSnapshot } from '#application/streams/stream-snapshots.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';
import { newDeliveryState } from '#webhooks/state/delivery-state.ts';
import { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';

/** What the code of release 0.3 has written. */
const fixtures = new URL('../../fixtures/release-0.3/', import.meta.url);
const files = ['processes.db', 'read.db'];

const log = '1/2f6c1d3e-8a35-4a6f-9d0e-51f0a4f4c001';
const flowStream = 'flow-cm0flow0000000000000000a';
const [keyA, keyB] = ['cm0key00000000000000000a', 'cm0key00000000000000000b'];
const [endpointA, endpointB] = ['cm0endpoint00000000000a', 'cm0endpoint00000000000b'];

async function assertTakenOver(records: RecordStore): Promise<void> {
  const running = { failure: null, waitingFor: null };
  const eventId = 'c0ffee00-0000-4000-8000-000000000001';
  const failure = { eventId, eventType: 'FlowDeleted', position: 42, message: 'It cannot be read.' };
  assert.deepEqual((await new ProcessCheckpoints(records).take(1, log))?.checkpoints, {
    'provision-instances': { position: 45, lastAppended: 0, ...running },
    'detach-phone-numbers': { position: 41, lastAppended: 39, ...running, failure },
    'remove-store-files': { position: 0, lastAppended: 0, ...running },
  });
  const { followed, states } = await new DeliveryStateStore(records, 7).acquire(log);
  const message = { position: 38, stream: flowStream, revision: 2, type: 'FlowRenamed' };
  const tried = { attempts: 2, firstTriedAt: 1767603600000, dueAt: 1767603660000, isTest: false };
  assert.equal(followed, 44);
  assert.deepEqual(
    states,
    new Map([
      [endpointA, { ...newDeliveryState(40), open: [{ ...message, ...tried }], ...failing, replayedAt: 4 }],
      [endpointB, { ...newDeliveryState(45), replayedAt: 4 }],
    ]),
  );
  assert.deepEqual(
    await records.all('key-usage', [keyA, keyB]),
    new Map([
      [keyA, '2026-01-05T09:30:00.000Z'],
      [keyB, '2026-01-05T10:01:00.000Z'],
    ]),
  );
  const snapshot = await new RecordSnapshots(records).read(flowStream);
  assert.deepEqual([snapshot?.revision, snapshot?.hash, snapshot?.stateVersion], [700, 'hash-700', 3]);
  const { state } = await readSnapshot<{ record: object; versions: ReadonlyMap<string, string> }>(snapshot?.body ?? '');
  assert.deepEqual(state.record, { name: 'A flow' });
  assert.deepEqual([state.versions.get('v1'), state.versions.get('v2')], ['one', 'two, "three"\n']);
}

const failing = { failingSince: 1767603600000, failures: 2 };

/** Repeats a take-over that fails at each of its writes in turn, until it does not fail. @returns the failures */
async function repeatedAfterCrashes(records: RecordStore, takeOver: (records: RecordStore) => Promise<void>) {
  /** The writes of a part before the next crash. */
  let allowed = 0;
  for (let crashes = 0; ; crashes += 1, allowed += 1) {
    let writes = 0;
    const put: RecordStore['put'] = async (kind, ...given) => {
      if (writes === allowed) throw new UnavailableError('The test ends it here.');
      writes += 1;
      await records.put(kind, ...given);
      if (kind !== 'format') return;
      // A part has its mark, and is not copied again.
      allowed = 0;
      writes = 0;
    };
    const crashing = new Proxy(records, {
      get: (store, name: keyof RecordStore) => (name === 'put' ? put : store[name].bind(store)),
    });
    const outcome = await takeOver(crashing).catch((error: unknown) => error);
    if (outcome === undefined) return crashes;
    assert.ok(outcome instanceof UnavailableError, String(outcome));
  }
}

describe('takeOverEmbeddedRecords', () => {
  let folder: TemporaryFolder;
  let warnings: string[];
  beforeEach(() => {
    folder = temporaryFolder();
    warnings = [];
    for (const file of files) copyFileSync(new URL(`embedded/${file}`, fixtures), join(folder.path, file));
  });
  afterEach(() => folder.remove());

  const takeOver = (records: RecordStore) =>
    takeOverEmbeddedRecords({
      dataDir: folder.path,
      readStoreFile: join(folder.path, 'read.db'),
      records,
      log: { warn: (_, message) => warnings.push(message) },
    });
  const contents = () => files.map((file) => readFileSync(join(folder.path, file)));

  it('copies what release 0.3 has stored, and leaves its files unchanged', async () => {
    const before = contents();
    const writer = new SqliteWriter({ onFatal: assert.fail });
    const records = openSqliteRecordStore({ file: join(folder.path, 'records.db'), writer });
    try {
      await takeOver(records);
      await assertTakenOver(records);
    } finally {
      await records.close();
      await writer.close();
    }
    assert.deepEqual(contents(), before);
    assert.deepEqual(warnings, []);
  });

  it('copies everything after crashes at every write', async () => {
    const records = new InMemoryRecordStore();
    assert.ok((await repeatedAfterCrashes(records, takeOver)) > 4);
    await assertTakenOver(records);
  });

  it('copies nothing at a later start', async () => {
    const records = new InMemoryRecordStore();
    await takeOver(records);
    await records.put('key-usage', new Map([[keyA, '2026-01-01T00:00:00.000Z']]));
    await records.delete('webhook-deliveries', [endpointA]);
    await takeOver(records);
    assert.equal(await records.get('key-usage', keyA), '2026-01-01T00:00:00.000Z');
    assert.equal(await records.get('webhook-deliveries', endpointA), null);
  });

  it('finds nothing in a new folder, also when files appear later', async () => {
    for (const file of files) rmSync(join(folder.path, file));
    const records = new InMemoryRecordStore();
    await takeOver(records);
    copyFileSync(new URL('embedded/processes.db', fixtures), join(folder.path, 'processes.db'));
    await takeOver(records);
    assert.equal(await new ProcessCheckpoints(records).read(), null);
  });

  it('leaves out what is in a damaged file of read models, which is rebuilt, and warns', async () => {
    writeFileSync(join(folder.path, 'read.db'), 'no read models'.repeat(1_000));
    const records = new InMemoryRecordStore();
    await takeOver(records);
    assert.equal(warnings.length, 1);
    assert.equal((await records.all('key-usage')).size, 0);
    assert.equal((await new DeliveryStateStore(records).acquire(log)).followed, 44);
  });

  /** Overwrites the first page of a table. */
  const damage = (file: string, table: string) => {
    const path = join(folder.path, file);
    const database = new DatabaseSync(path);
    database.exec('PRAGMA journal_mode = DELETE');
    const size = Number(database.prepare('PRAGMA page_size').get()?.page_size);
    const page = Number(database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)?.rootpage);
    database.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, (page - 1) * size, page * size);
    writeFileSync(path, bytes);
  };

  it('refuses a start on a damaged table of checkpoints, and names the file', async () => {
    damage('processes.db', 'checkpoints');
    await assert.rejects(takeOver(new InMemoryRecordStore()), /^StartupError: .*processes\.db cannot be read/);
  });

  it('leaves out a damaged table of read models, and warns', async () => {
    damage('read.db', 'snapshot');
    const records = new InMemoryRecordStore();
    await takeOver(records);
    assert.equal(warnings.length, 1);
    assert.equal(await new RecordSnapshots(records).read(flowStream), null);
    assert.equal((await records.all('key-usage', [keyA])).size, 1);
  });

  it('takes a delivery state that is not JSON for lost', async () => {
    const database = new DatabaseSync(join(folder.path, 'processes.db'));
    database.prepare("UPDATE webhook_deliveries SET state = '{' WHERE endpoint = ?").run(endpointA);
    database.close();
    const records = new InMemoryRecordStore();
    await takeOver(records);
    const { states } = await new DeliveryStateStore(records).acquire(log);
    assert.deepEqual([...states.keys()], [endpointB]);
  });

  it('refuses a start on damaged checkpoints, and names the file', async () => {
    writeFileSync(join(folder.path, 'processes.db'), 'no checkpoints'.repeat(1_000));
    await assert.rejects(takeOver(new InMemoryRecordStore()), /^StartupError: .*processes\.db cannot be read/);
  });
});

describeOnMongoDb('takeOverMongoDbRecords', (server) => {
  let url: string;
  let client: MongoClient;
  let records: RecordStore;
  beforeEach(async () => {
    url = server.newUrl();
    client = await MongoClient.connect(url);
    const text = readFileSync(new URL('mongodb.json', fixtures), 'utf8');
    const dump: Record<string, Document[]> = BSON.EJSON.parse(text, { relaxed: false });
    for (const [name, documents] of Object.entries(dump)) await client.db().collection(name).insertMany(documents);
    records = openMongoDbRecordStore({ url, timeoutMs: patientTimeoutMs });
  });
  afterEach(async () => {
    await records.close();
    await client.close();
  });

  const takeOver = async (to: RecordStore) => {
    for (const part of allParts) await takeOverMongoDbRecords({ url, timeoutMs: patientTimeoutMs, records: to, part });
  };
  const collections = async () => {
    const all = await client.db().listCollections({}, { nameOnly: true }).toArray();
    const names = all.map(({ name }) => name).filter((name) => !name.startsWith('records'));
    const documents = (name: string) => client.db().collection(name).find().sort({ _id: 1 }).toArray();
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await documents(name)] as const)));
  };
  const assertNotesTakenOver = async () => {
    const notes = new ReadStoreNotes(records, 7);
    assert.equal((await notes.operatorState()).madeFrom?.flows, log);
    // They are about read models that this release makes from the log again.
    assert.equal(await notes.positions(), null);
    assert.deepEqual(await notes.status(), []);
    await notes.saveStatus([]);
  };

  it('copies what release 0.3 has stored, and leaves its collections unchanged', async () => {
    const before = await collections();
    await takeOver(records);
    await assertTakenOver(records);
    await assertNotesTakenOver();
    assert.deepEqual(await collections(), before);
  });

  it('copies everything after crashes at every write', async () => {
    assert.ok((await repeatedAfterCrashes(records, takeOver)) > 5);
    await assertTakenOver(records);
    await assertNotesTakenOver();
  });

  it('leaves what a node of this release has stored while another node copies', async () => {
    const other = openMongoDbRecordStore({ url, timeoutMs: patientTimeoutMs });
    try {
      await takeOver(records);
      await new DeliveryStateStore(records, 8).write(log, new Map([[endpointA, newDeliveryState(50)]]), 50);
      // The other node has looked before the first one had finished.
      await client.db().collection<{ _id: string }>('records').deleteOne({ _id: 'format/taken-over' });
      await takeOver(other);
      assert.deepEqual(await new DeliveryStateStore(records, 8).peek(endpointA), newDeliveryState(50));
    } finally {
      await other.close();
    }
  });
});
