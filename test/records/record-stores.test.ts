import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { recordStoreContract } from '#test/contract/record-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

const openPlace = async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'records.db');
  const writer = new SqliteWriter({ onFatal: assert.fail });
  return {
    file,
    connect: () => openSqliteRecordStore({ file, writer }),
    dispose: async () => {
      await writer.close();
      folder.remove();
    },
  };
};

recordStoreContract('SQLite', openPlace);

recordStoreContract('in memory', async () => {
  const store = new InMemoryRecordStore();
  return { connect: () => store, dispose: async () => undefined };
});

describeOnMongoDb('records on MongoDB', (server) => {
  recordStoreContract('MongoDB', async () => {
    const url = server.newUrl();
    return {
      connect: () => openMongoDbRecordStore({ url, timeoutMs: patientTimeoutMs }),
      dispose: async () => undefined,
    };
  });
});

describe('openSqliteRecordStore', () => {
  it('throws a StartupError that names a file that is not a database', async () => {
    const place = await openPlace();
    try {
      writeFileSync(place.file, 'no database '.repeat(100));
      assert.throws(() => place.connect(), new RegExp(`^StartupError: .*${place.file}`));
    } finally {
      await place.dispose();
    }
  });

  it('throws an UnavailableError when it or its writer is closed', async () => {
    const place = await openPlace();
    const [store, closed] = [place.connect(), place.connect()];
    await closed.close();
    await closed.close();
    await assert.rejects(closed.get('notes', 'one'), UnavailableError);
    await place.dispose();
    await assert.rejects(store.put('notes', new Map([['one', 1]])), UnavailableError);
    await store.close();
  });
});
