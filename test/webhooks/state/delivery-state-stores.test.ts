import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { deliveryStateStoreContract } from '#test/contract/delivery-state-store.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { newDeliveryState } from '#webhooks/state/delivery-state.ts';
import { openMongoDbDeliveryStateStore } from '#webhooks/state/mongodb/mongodb-delivery-state-store.ts';
import { openSqliteDeliveryStateStore } from '#webhooks/state/sqlite/sqlite-delivery-state-store.ts';

deliveryStateStoreContract('SQLite', async () => {
  const folder = temporaryFolder();
  return {
    connect: () => openSqliteDeliveryStateStore(join(folder.path, 'processes.db')),
    dispose: async () => rmSync(folder.path, { recursive: true }),
  };
});

describeOnMongoDb('delivery states on MongoDB', (server) => {
  deliveryStateStoreContract('MongoDB', async () => {
    const url = server.newUrl();
    return {
      connect: () => openMongoDbDeliveryStateStore({ url, timeoutMs: patientTimeoutMs }),
      dispose: async () => undefined,
    };
  });

  it('refuses the writes of a node with an older token after a takeover', async () => {
    const url = server.newUrl();
    const [older, newer] = [1, 2].map((fence) =>
      openMongoDbDeliveryStateStore({ url, fence, timeoutMs: patientTimeoutMs }),
    );
    assert.ok(older !== undefined && newer !== undefined);
    try {
      const state = new Map([['one', newDeliveryState(3)]]);
      await older.acquire('log');
      await older.write('log', state, 3);
      await newer.acquire('log');
      await assert.rejects(older.write('log', new Map([['one', newDeliveryState(1)]]), 1), FencedError);
      await assert.rejects(older.acquire('log'), FencedError);
      assert.deepEqual(await newer.acquire('log'), { followed: 3, states: state });
    } finally {
      await older.close();
      await newer.close();
    }
  });
});
