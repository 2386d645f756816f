import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openMongoDbCheckpointStore } from '#processes/mongodb-checkpoint-store.ts';
import { openSqliteCheckpointStore } from '#processes/sqlite-checkpoint-store.ts';
import { Superseded } from '#src/superseded.ts';
import { Unavailable } from '#src/unavailable.ts';
import { checkpointStoreContract } from '#test/contract/checkpoint-store.ts';
import { describeOnMongoDb } from '#test/support/ferretdb.ts';
import { InMemoryCheckpointStore } from '#test/support/in-memory-checkpoint-store.ts';

// What stands in for a store in other tests is held to what the real ones do.
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

  it('reads what a release stored that knew nothing of appends', async () => {
    const folder = await newFolder();
    const file = join(folder, 'processes.db');
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE checkpoints (process TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT');
    database.exec("INSERT INTO checkpoints VALUES ('one', 7)");
    database.close();
    for (const appended of [0, 5]) {
      const store = openSqliteCheckpointStore(file);
      assert.deepEqual(await store.read('one'), { position: 7, lastAppended: appended });
      await store.write('one', { position: 7, lastAppended: 5 });
      await store.close();
    }
    await rm(folder, { recursive: true });
  });
});

describeOnMongoDb('checkpoints of processes on MongoDB', (server) => {
  checkpointStoreContract('MongoDB', async () => {
    const url = server.newUrl();
    return { connect: () => openMongoDbCheckpointStore({ url }), dispose: async () => undefined };
  });

  it('never go back: a write whose answer was lost may come after the next', async () => {
    const store = openMongoDbCheckpointStore({ url: server.newUrl() });
    await store.read('one');
    await store.write('one', { position: 7, lastAppended: 6 });
    await store.write('one', { position: 5, lastAppended: 4 });
    assert.deepEqual(await store.peek('one'), { position: 7, lastAppended: 6 });
    await store.close();
    await assert.rejects(store.read('one'), Unavailable);
  });

  it('refuse a node once another with a newer lease has begun, but let it look', async () => {
    const url = server.newUrl();
    const older = openMongoDbCheckpointStore({ url, fence: 1 });
    const newer = openMongoDbCheckpointStore({ url, fence: 2 });
    try {
      await older.read('one');
      await older.write('one', { position: 3, lastAppended: 0 });
      await newer.peek('one');
      await older.write('one', { position: 4, lastAppended: 0 });
      assert.equal((await newer.read('one')).position, 4);
      await assert.rejects(older.write('one', { position: 9, lastAppended: 0 }), Superseded);
      await assert.rejects(older.read('one'), Superseded);
      assert.equal((await older.peek('one')).position, 4);
      await newer.write('one', { position: 5, lastAppended: 0 });
      assert.equal((await newer.read('one')).position, 5);
    } finally {
      await older.close();
      await newer.close();
    }
  });
});
