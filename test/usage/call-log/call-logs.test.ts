import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { callLogContract } from '#test/contract/call-log.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
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

describeOnMongoDb('the call log on MongoDB', (server) => {
  callLogContract('MongoDB', async () => ({
    log: openMongoDbCallLog({ url: server.newUrl(), timeoutMs: patientTimeoutMs }),
    dispose: async () => undefined,
  }));
});
