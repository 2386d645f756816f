import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { callLogContract } from '#test/contract/call-log.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { loggedCall, recordedCall } from '#test/usage/call-log/logged-calls.ts';
import { openMongoDbCallLog } from '#usage/call-log/call-log.mongodb.ts';
import { openSqliteCallLog } from '#usage/call-log/call-log.sqlite.ts';

callLogContract('SQLite', async () => {
  const folder = temporaryFolder();
  const writer = new SqliteWriter({ onFatal: assert.fail });
  return {
    log: openSqliteCallLog({ file: join(folder.path, 'gateway-calls.db'), writer }),
    dispose: async () => {
      await writer.close();
      rmSync(folder.path, { recursive: true });
    },
  };
});

describe('the call log on SQLite', () => {
  it('opens a file of release 0.5.0, whose records represent several calls, and shows and writes one for each', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'gateway-calls.db');
    const old = new DatabaseSync(file);
    old.exec(`PRAGMA journal_mode = WAL;
      CREATE TABLE calls (
        id TEXT NOT NULL, project TEXT NOT NULL, at INTEGER NOT NULL, request TEXT NOT NULL, key TEXT NOT NULL,
        model TEXT NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL, bytes INTEGER NOT NULL, represented INTEGER NOT NULL,
        PRIMARY KEY (project, at, id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE sizes (project TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
      CREATE TRIGGER call_added AFTER INSERT ON calls BEGIN
        INSERT INTO sizes (project, bytes) VALUES (new.project, new.bytes)
          ON CONFLICT (project) DO UPDATE SET bytes = bytes + excluded.bytes;
      END;`);
    const { callsRepresented, ...stored } = recordedCall();
    const body = JSON.stringify(stored);
    old
      .prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run('a', 'one', 1, 'request-1', stored.keyId, stored.model, 'served', body, body.length, 7);
    old.close();
    const writer = new SqliteWriter({ onFatal: assert.fail });
    for (const opening of ['first', 'second']) {
      const log = openSqliteCallLog({ file, writer });
      assert.deepEqual(await log.ofRequest('one', 'request-1', 1), [recordedCall()], opening);
      assert.equal((await log.bytesByProject()).get('one'), body.length);
      await log.close();
    }
    const log = openSqliteCallLog({ file, writer });
    await log.add([loggedCall(2, 'b')]);
    assert.equal((await log.ofRequest('one', 'request-b', 1)).length, 1);
    await log.close();
    await writer.close();
    const written = new DatabaseSync(file, { readOnly: true });
    const rows = written.prepare('SELECT represented FROM calls ORDER BY at').all();
    written.close();
    assert.deepEqual(
      rows.map(({ represented }) => represented),
      [7, 1],
      'the file is not written again',
    );
    folder.remove();
  });
});

describeOnMongoDb('the call log on MongoDB', (server) => {
  it('shows a record of release 0.5.0, which represents several calls, as one', async () => {
    const options = { url: server.newUrl(), timeoutMs: patientTimeoutMs };
    const { callsRepresented, ...stored } = recordedCall();
    const connection = new MongoDbConnection(options);
    await connection.call((database) =>
      database.collection<{ _id: string }>('gatewayCalls').insertOne({
        ...{ _id: 'a', project: 'one', at: 1, request: 'request-1', key: stored.keyId, model: stored.model },
        ...{ outcome: 'served', body: JSON.stringify(stored), bytes: 1, callsRepresented: 7 },
      }),
    );
    await connection.close();
    const log = openMongoDbCallLog(options);
    assert.deepEqual(await log.ofRequest('one', 'request-1', 1), [recordedCall()]);
    await log.close();
  });

  callLogContract('MongoDB', async () => ({
    log: openMongoDbCallLog({ url: server.newUrl(), timeoutMs: patientTimeoutMs }),
    dispose: async () => undefined,
  }));
});
