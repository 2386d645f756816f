import assert from 'node:assert/strict';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { NodeClient } from '#test/support/eventstoredb/node-client.ts';

describe('EventStoreDbDoubleProcess', function () {
  this.timeout(60_000);

  let double: EventStoreDbDoubleProcess;
  let client: NodeClient;

  beforeEach(async () => {
    double = await EventStoreDbDoubleProcess.start();
    client = new NodeClient(double);
  });

  afterEach(async () => {
    client.close();
    await double.end();
  });

  /** After a restart: connections are broken by it. */
  function reconnect(): void {
    client.close();
    client = new NodeClient(double);
  }

  it('limits streams, removes them, scavenges and reports on order', async () => {
    const positions = [await client.append('orders-1'), await client.append('orders-1')];
    await client.append('orders-2');
    await double.order({ stream: 'orders-1', metadata: { $maxCount: 1 } });
    await double.order({ stream: 'orders-2', remove: 'softDelete' });
    await double.order({ log: 'scavenge' });
    assert.deepEqual(await client.readStream('orders-1'), [1]);
    assert.deepEqual(await client.readStream('orders-2'), []);
    assert.deepEqual(
      (await client.readAll()).filter((one) => positions.includes(one)),
      positions.slice(1),
    );
    assert.equal((await double.calls()).append, 3);
    assert.ok((await double.bytesSent()) > 0);
  });

  it('is restored from a copy, emptied, paused and limited on order', async () => {
    await client.append('orders-1');
    await double.order({ log: 'copy' });
    await client.append('orders-1');
    await double.order({ log: 'restore' });
    reconnect();
    assert.deepEqual(await client.readStream('orders-1'), [0]);
    await double.order({ call: 'reset' });
    reconnect();
    assert.deepEqual(await client.readStream('orders-1'), []);
    await double.order({ pauseMs: 50 });
    await double.order({ limits: { maxEventBytes: 100 } });
    await assert.rejects(client.append('orders-1', { data: 'x'.repeat(100) }), /Maximum Append Event Size of 100/);
    await double.order({ rights: 'read' });
    await assert.rejects(client.append('orders-1'), /Access Denied/);
  });
});
