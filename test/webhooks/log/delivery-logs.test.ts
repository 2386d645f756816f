import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { deliveryLogContract } from '#test/contract/delivery-log.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { openMongoDbDeliveryLog } from '#webhooks/delivery-log.mongodb.ts';
import { openSqliteDeliveryLog } from '#webhooks/delivery-log.sqlite.ts';

deliveryLogContract('SQLite', async () => {
  const folder = temporaryFolder();
  const writer = new SqliteWriter({ onFatal: assert.fail });
  return {
    log: openSqliteDeliveryLog({ file: join(folder.path, 'webhook-deliveries.db'), writer }),
    dispose: async () => {
      await writer.close();
      rmSync(folder.path, { recursive: true });
    },
  };
});

describeOnMongoDb('the delivery log on MongoDB', (server) => {
  deliveryLogContract('MongoDB', async () => ({
    log: openMongoDbDeliveryLog({ url: server.newUrl(), timeoutMs: patientTimeoutMs }),
    dispose: async () => undefined,
  }));
});
