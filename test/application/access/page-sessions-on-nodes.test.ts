import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PageSessions } from '#application/access/page-sessions.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

const keys = { resolve: async () => callerOf('admin'), resolveSecret: async () => callerOf('admin') };

/** Signs in on nodes at the same time, and counts the sessions that stay. */
async function expectTwenty(nodes: ReadonlyArray<RecordStore>, signIns: number): Promise<void> {
  const sessions = nodes.map((records) => new PageSessions({ records, keys }));
  const open = (_: unknown, index: number) => sessions[index % sessions.length]?.open('key') ?? null;
  const tokens = await Promise.all(Array.from({ length: signIns }, open));
  const [records] = nodes;
  assert.ok(records !== undefined);
  const fresh = new PageSessions({ records, keys });
  let valid = 0;
  for (const token of tokens) if (token !== null && (await fresh.isValid(token))) valid += 1;
  const stored = await records.page('sessions', { limit: 1_000 });
  const listed = await records.page('sessions-of-keys', { limit: 1_000 });
  assert.deepEqual([valid, stored.size, listed.size], [20, 20, 20]);
}

describe('sign-ins of one key at the same time', function () {
  this.timeout(120_000);

  it('leave twenty sessions on SQLite', async () => {
    const folder = temporaryFolder();
    const writer = new SqliteWriter({ onFatal: assert.fail });
    const records = openSqliteRecordStore({ file: join(folder.path, 'records.db'), writer });
    await expectTwenty([records], 200);
    await records.close();
    await writer.close();
    folder.remove();
  });

  describeOnMongoDb('on nodes that share MongoDB', (server) => {
    it('leave twenty sessions', async () => {
      const url = server.newUrl();
      const nodes = [1, 2].map(() => openMongoDbRecordStore({ url, timeoutMs: patientTimeoutMs }));
      await expectTwenty(nodes, 60);
      for (const node of nodes) await node.close();
    });
  });
});
