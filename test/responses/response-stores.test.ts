import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { openMongoDbResponseStore } from '#responses/mongodb/mongodb-response-store.ts';
import { openSqliteResponseStore } from '#responses/sqlite/sqlite-response-store.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { responseStoreContract, storedResponse } from '#test/contract/response-store.ts';
import { InMemoryResponseStore } from '#test/support/fakes/in-memory-response-store.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

responseStoreContract('SQLite', async () => {
  const folder = temporaryFolder();
  const writer = new SqliteWriter({ onFatal: assert.fail });
  return {
    store: openSqliteResponseStore({ file: join(folder.path, 'responses.db'), writer }),
    dispose: async () => {
      await writer.close();
      rmSync(folder.path, { recursive: true });
    },
  };
});

describe('the room for responses on SQLite', () => {
  it('is asked once for small writes, whatever a large one is answered', async () => {
    const folder = temporaryFolder();
    const writer = new SqliteWriter({ onFatal: assert.fail });
    const asked: number[] = [];
    const hasRoomFor = async (bytes: number) => {
      asked.push(bytes);
      return bytes < 1_000_000;
    };
    const store = openSqliteResponseStore({ file: join(folder.path, 'responses.db'), writer, hasRoomFor });
    const answers: boolean[] = [];
    for (const bytes of [2_000_000, 100, 2_000_000, 200]) answers.push(await store.hasRoomFor(bytes));
    assert.deepEqual(answers, [false, true, false, true]);
    assert.equal(asked.length, 3);
    await store.close();
    await writer.close();
    rmSync(folder.path, { recursive: true });
  });
});

describeOnMongoDb('the stored responses on MongoDB', (server) => {
  responseStoreContract('MongoDB', async () => ({
    store: openMongoDbResponseStore({ url: server.newUrl(), timeoutMs: patientTimeoutMs }),
    dispose: async () => undefined,
  }));

  it('removes what release 0.4 has only marked as deleted, and lists each project with something to remove', async () => {
    const url = server.newUrl();
    const store = openMongoDbResponseStore({ url, timeoutMs: patientTimeoutMs });
    const subject = await store.subjectOf('project1');
    const ids = Array.from({ length: 40 }, (_, index) => `r${index}`);
    for (const id of ids) assert.equal(await store.add(storedResponse(id), subject), 'stored');
    await store.add(storedResponse('r1', { projectId: 'project2' }), await store.subjectOf('project2'));
    const client = new MongoClient(url);
    const documents = client.db().collection('responses');
    await documents.updateMany({ project: 'project1' }, { $set: { deleted: true } });
    await client.close();
    await store.markDeleted('project2', ['r1']);
    assert.deepEqual(await store.projectsToClean(9), ['project1', 'project2']);
    assert.deepEqual(await store.projectsToClean(1), ['project1']);
    while ((await store.removeUnneeded('project1')).length > 0);
    assert.equal(await store.bytesOf('project1'), 0);
    assert.deepEqual(await store.projectsToClean(9), ['project2']);
    await store.close();
  });
});

responseStoreContract('memory', async () => ({
  store: new InMemoryResponseStore(),
  dispose: async () => undefined,
}));
