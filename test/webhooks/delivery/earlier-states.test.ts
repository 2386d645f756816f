import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityByFirst } from '#event-store/log-identity.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { ids } from '#test/support/events/tenants.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { DeliveringNode } from './delivering-node.ts';

const fixture = new URL('../../fixtures/delivery-states/with-open-messages.json', import.meta.url);
const logOfFixture = '1/2f6c1d3e-8a35-4a6f-9d0e-51f0a4f4c001';

/** Declares the tests of nodes that start on the states that the code of format 2 has stored. */
function earlierStates(open: () => Promise<{ readonly records: RecordStore; readonly close: () => Promise<void> }>) {
  let records: RecordStore;
  let close: () => Promise<void>;
  let node: DeliveringNode;
  beforeEach(async () => {
    ({ records, close } = await open());
    node = new DeliveringNode(records);
    await node.begin();
    await node.createEndpoint();
    await node.createFlow('cflowfirst000001');
    await node.createFlow('cflowsecond00001');
    const text = readFileSync(fixture, 'utf8');
    const log = identityByFirst(node.store.log[0] ?? assert.fail());
    const rows = Object.entries<string>(JSON.parse(text.replaceAll(logOfFixture, log)));
    await records.put('webhook-deliveries', new Map(rows.map(([key, row]) => [key, new EncodedJson(row)])));
  });
  afterEach(async () => {
    await node.end();
    await close();
  });

  /** The fixture's state is at position 5 and has open messages at 3, 4 and 5. */
  const later = () => node.store.log.map(({ position }) => position).filter((position) => position > 5);
  const positions = () => node.tried.map(({ position }) => position).toSorted((one, other) => one - other);

  it('delivers each open message and each later event once, and none again after another start', async () => {
    await node.start();
    const expected = [3, 4, 5, ...later()];
    await eventually(() => node.tried.length >= expected.length, 'everything is delivered');
    assert.deepEqual(positions(), expected);
    await node.end();
    assert.deepEqual((await node.state())?.open, []);
    assert.deepEqual(await records.all('webhook-messages'), new Map());
    node.startAgain();
    const next = await node.createFlow('cflowlast0000001');
    await eventually(() => node.tried.length > expected.length, 'the next event is delivered');
    assert.deepEqual(positions(), [...expected, next]);
  });

  it('keeps the open messages that are not delivered as records', async () => {
    node.receive = () => ({ kind: 'failed', eventId: 'event', status: 500, error: 'status', durationMs: 1 });
    await node.start();
    await eventually(() => node.tried.length >= 3 + later().length, 'everything is tried');
    await node.end();
    const keys = [...(await records.all('webhook-messages')).keys()];
    // The first try of the message at 3 was long ago, so it is given up. The test at 5 is tried once only.
    const open = [4, ...later()].map((position) => `${ids.webhookEndpoint}/${position}`);
    assert.deepEqual(keys.toSorted(), open.toSorted());
    const state = (await records.get('webhook-deliveries', ids.webhookEndpoint)) as { readonly state: object };
    assert.ok(!('open' in state.state));
  });
}

describe('delivery states in format 2 on SQLite', () => {
  earlierStates(async () => {
    const folder = temporaryFolder();
    const writer = new SqliteWriter({ onFatal: assert.fail });
    const records = openSqliteRecordStore({ file: join(folder.path, 'records.db'), writer });
    const close = async () => {
      await records.close();
      await writer.close();
      folder.remove();
    };
    return { records, close };
  });
});

describeOnMongoDb('delivery states in format 2 on MongoDB', (server) => {
  earlierStates(async () => {
    const records = openMongoDbRecordStore({ url: server.newUrl(), timeoutMs: patientTimeoutMs });
    return { records, close: () => records.close() };
  });
});
