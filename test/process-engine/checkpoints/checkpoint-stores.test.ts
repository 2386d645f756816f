import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Long, MongoClient } from 'mongodb';
import { openMongoDbCheckpointStore } from '#process-engine/checkpoints/mongodb/mongodb-checkpoint-store.ts';
import { openSqliteCheckpointStore } from '#process-engine/checkpoints/sqlite/sqlite-checkpoint-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { checkpointStoreContract } from '#test/contract/checkpoint-store.ts';
import { InMemoryCheckpointStore } from '#test/support/fakes/in-memory-checkpoint-store.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';

const log = '3/first';
const other = '3/another';

// The in-memory store that other tests use passes the contract of the real ones.
checkpointStoreContract('in memory', async () => {
  const store = new InMemoryCheckpointStore();
  return { connect: () => store, dispose: async () => undefined };
});

describe('checkpoints of processes on SQLite', () => {
  const newFolder = () => mkdtemp(join(tmpdir(), 'checkpoints-'));

  checkpointStoreContract('SQLite', async () => {
    const folder = await newFolder();
    return {
      connect: () => openSqliteCheckpointStore(join(folder, 'processes.db')),
      dispose: () => rm(folder, { recursive: true }),
    };
  });

  it('reads a checkpoint from before appends and logs were recorded, and assigns it to the current log', async () => {
    const folder = await newFolder();
    const file = join(folder, 'processes.db');
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE checkpoints (process TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT');
    database.exec("INSERT INTO checkpoints VALUES ('one', 7), ('two', 7)");
    database.close();
    for (const appended of [0, 5]) {
      const store = openSqliteCheckpointStore(file);
      assert.deepEqual(await store.read('one', log), { position: 7, lastAppended: appended });
      await store.write('one', log, { position: 7, lastAppended: 5 });
      await store.close();
    }
    const store = openSqliteCheckpointStore(file);
    assert.equal((await store.peek('two', log)).position, 7);
    assert.equal((await store.read('two', log)).position, 7);
    assert.deepEqual(await store.read('two', other), { position: 0, lastAppended: 0 }, 'reading notes the log');
    await store.close();
    await rm(folder, { recursive: true });
  });
});

describeOnMongoDb('checkpoints of processes on MongoDB', (server) => {
  checkpointStoreContract('MongoDB', async () => {
    const url = server.newUrl();
    return {
      connect: () => openMongoDbCheckpointStore({ url, timeoutMs: patientTimeoutMs }),
      dispose: async () => undefined,
    };
  });

  it('ignores a delayed write with an older position', async () => {
    const store = openMongoDbCheckpointStore({ url: server.newUrl(), timeoutMs: patientTimeoutMs });
    await store.read('one', log);
    await store.write('one', log, { position: 7, lastAppended: 6 });
    await store.write('one', log, { position: 5, lastAppended: 4 });
    assert.deepEqual(await store.peek('one', log), { position: 7, lastAppended: 6, failure: null });
    await store.close();
    await assert.rejects(store.read('one', log), UnavailableError);
  });

  it('assigns a checkpoint of an older release to the current log', async () => {
    const url = server.newUrl();
    const client = new MongoClient(url);
    const old = { position: Long.fromNumber(7), lastAppended: Long.fromNumber(5), fence: Long.fromNumber(1) };
    const collection = client.db().collection<{ _id: string }>('processCheckpoints');
    const store = openMongoDbCheckpointStore({ url, fence: 2, timeoutMs: patientTimeoutMs });
    try {
      await collection.insertOne({ _id: 'one', ...old });
      assert.deepEqual(await store.peek('one', log), { position: 7, lastAppended: 5, failure: null });
      assert.deepEqual(await store.peek('one', other), { position: 7, lastAppended: 5, failure: null });
      assert.deepEqual(await store.read('one', log), { position: 7, lastAppended: 5 });
      assert.deepEqual(await store.peek('one', other), { position: 0, lastAppended: 0, failure: null });
      await store.write('one', log, { position: 9, lastAppended: 5 });
      assert.deepEqual(await store.read('one', log), { position: 9, lastAppended: 5 });
    } finally {
      await store.close();
      await client.close();
    }
  });

  it('refuses to reset a checkpoint with an expired lease, for the same and for another log', async () => {
    const url = server.newUrl();
    const older = openMongoDbCheckpointStore({ url, fence: 1, timeoutMs: patientTimeoutMs });
    const newer = openMongoDbCheckpointStore({ url, fence: 2, timeoutMs: patientTimeoutMs });
    try {
      await older.read('one', log);
      await newer.read('one', log);
      await newer.write('one', log, { position: 7, lastAppended: 6 });
      await assert.rejects(older.read('one', other), FencedError);
      await assert.rejects(older.reset('one', log), FencedError);
      assert.deepEqual(await newer.read('one', log), { position: 7, lastAppended: 6 });
      // On another log the newer lease begins again, and the older one can write to neither log.
      assert.equal((await newer.read('one', other)).position, 0);
      for (const each of [log, other]) {
        await assert.rejects(older.write('one', each, { position: 9, lastAppended: 0 }), FencedError);
      }
      assert.equal((await newer.peek('one', other)).position, 0);
    } finally {
      await older.close();
      await newer.close();
    }
  });

  it('refuses a node’s writes once a newer lease has begun, and still lets it read', async () => {
    const url = server.newUrl();
    const older = openMongoDbCheckpointStore({ url, fence: 1, timeoutMs: patientTimeoutMs });
    const newer = openMongoDbCheckpointStore({ url, fence: 2, timeoutMs: patientTimeoutMs });
    try {
      await older.read('one', log);
      await older.write('one', log, { position: 3, lastAppended: 0 });
      await newer.peek('one', log);
      await older.write('one', log, { position: 4, lastAppended: 0 });
      assert.equal((await newer.read('one', log)).position, 4);
      await assert.rejects(older.write('one', log, { position: 9, lastAppended: 0 }), FencedError);
      await assert.rejects(older.read('one', log), FencedError);
      assert.equal((await older.peek('one', log)).position, 4);
      await newer.write('one', log, { position: 5, lastAppended: 0 });
      assert.equal((await newer.read('one', log)).position, 5);
    } finally {
      await older.close();
      await newer.close();
    }
  });
});
