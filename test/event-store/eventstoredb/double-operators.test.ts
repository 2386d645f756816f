import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { makeCertificate } from '#test/support/eventstoredb/certificate.ts';
import {
  EventStoreDbDouble,
  type ServerRelease,
  serverReleases,
} from '#test/support/eventstoredb/eventstoredb-double.ts';
import { NodeClient } from '#test/support/eventstoredb/node-client.ts';

const admin = 'admin:changeit';

describe('EventStoreDbDouble that an operator changes', function () {
  this.timeout(30_000);

  let double: EventStoreDbDouble;
  let client: NodeClient;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start({ manner: '24' });
    client = new NodeClient(double);
  });

  afterEach(async () => {
    client.close();
    await double.kill();
  });

  /** After a restart: connections are broken by it. */
  function reconnect(): void {
    client.close();
    client = new NodeClient(double);
  }

  /** Appends events to a stream. @returns their positions */
  async function fill(stream: string, count: number): Promise<number[]> {
    const positions: number[] = [];
    for (let number = 0; number < count; number += 1) positions.push(await client.append(stream));
    return positions;
  }

  const metadata = [
    { what: '$maxCount', limits: { $maxCount: 2 }, shown: [3, 4] },
    { what: '$tb', limits: { $tb: 4 }, shown: [4] },
    { what: '$maxAge', limits: { $maxAge: 10 }, shown: [] },
  ];
  for (const { what, limits, shown } of metadata)
    it(`shows a stream from where ${what} lets it begin, and $all whole until a scavenge, which keeps the last event`, async () => {
      const positions = await fill('orders-1', 5);
      double.log.setMetadata('orders-1', limits);
      if (what === '$maxAge') double.now = () => Date.now() + 11_000;
      assert.deepEqual(await client.readStream('orders-1'), shown);
      assert.deepEqual(
        (await client.readAll()).filter((one) => positions.includes(one)),
        positions,
      );
      double.log.scavenge();
      assert.deepEqual(await client.readStream('orders-1'), shown);
      const kept = positions.slice(Math.min(shown[0] ?? 4, 4));
      assert.deepEqual(
        (await client.readAll()).filter((one) => positions.includes(one)),
        kept,
      );
      await client.append('orders-1');
      assert.equal(double.log.lastRevision('orders-1'), 5n);
    });

  it('keeps the last event of a soft-deleted stream and the tombstone of a closed one', async () => {
    const soft = await fill('orders-1', 3);
    const closed = await fill('orders-2', 3);
    double.log.softDelete('orders-1', 'any');
    double.log.tombstone('orders-2', 'any');
    double.log.scavenge();
    const kept = await client.readAll();
    assert.deepEqual(
      kept.filter((one) => [...soft, ...closed].includes(one)),
      soft.slice(-1),
    );
    assert.equal(double.log.events.filter(({ type }) => type === '$streamDeleted').length, 1);
    assert.deepEqual(await client.readStream('orders-1'), []);
    await assert.rejects(client.readStream('orders-2'), /is deleted/);
  });

  it('continues below its earlier end after a restore from an older copy', async () => {
    const [first = 0] = await fill('orders-1', 1);
    const copy = double.log.copy();
    const [, lost = 0] = await fill('orders-2', 2);
    await double.restore(copy);
    reconnect();
    assert.deepEqual((await client.readAll()).slice(-1), [first]);
    assert.deepEqual(await client.readAll({ from: lost }), []);
    const next = await client.append('orders-3', { data: '{"a":"longer event"}' });
    assert.ok(next < lost, `${next} ${lost}`);
    assert.deepEqual(await client.readAll({ from: next }), [next]);
  });

  it('begins with an empty log on the same port after its folder was emptied', async () => {
    const before = double.log.events.map(({ id }) => id);
    await fill('orders-1', 2);
    await double.reset();
    reconnect();
    assert.equal((await client.readAll()).length, 1);
    assert.notDeepEqual(
      double.log.events.map(({ id }) => id),
      before,
    );
  });

  it('answers nothing while it pauses, and then everything', async () => {
    await fill('orders-1', 1);
    const subscription = client.subscribe();
    await sleep(50);
    const paused = double.pause(300);
    let answered = 0;
    const calls = [client.append('orders-1'), client.readAll(), client.readStream('orders-1')];
    for (const call of calls) void call.then(() => (answered += 1));
    await sleep(100);
    assert.equal(answered, 0);
    await paused;
    await Promise.all(calls);
    assert.deepEqual(await client.readStream('orders-1'), [0, 1]);
    assert.deepEqual(subscription.positions, [await calls[0]]);
    subscription.close();
  });

  it('counts the bytes of what it answers', async () => {
    await client.append('orders-1', { data: JSON.stringify('x'.repeat(500_000)) });
    const before = double.bytesSent;
    await client.readAll({ backwards: true, count: 1 });
    const after = double.bytesSent;
    assert.ok(after - before > 500_000, String(after - before));
    await client.readAll({ from: double.log.events.at(-1)?.end ?? 0, count: 2 });
    assert.ok(double.bytesSent - after < 1_000, String(double.bytesSent - after));
  });

  it('refuses one event above its own limit, and says the limit', async () => {
    double.limits.maxEventBytes = 1_000;
    const failure = await client.append('orders-1', { data: 'x'.repeat(1_000) }).then(
      () => null,
      (error) => error,
    );
    assert.deepEqual(failure.metadata.get('exception'), ['maximum-append-event-size-exceeded']);
    assert.deepEqual(failure.metadata.get('maximum-append-event-size'), ['1000']);
    await client.append('orders-1', { data: 'x'.repeat(900) });
  });

  it('lets a caller read who may not write', async () => {
    double.access.anonymous = 'read';
    const failure = await client.append('orders-1').then(
      () => null,
      (error) => error,
    );
    assert.deepEqual(failure.metadata.get('exception'), ['access-denied']);
    assert.equal((await client.readAll()).length, 1);
    double.access.anonymous = 'none';
    await assert.rejects(client.readAll(), /Access Denied/);
  });
});

describe('EventStoreDbDouble with users', function () {
  this.timeout(30_000);

  it('refuses and counts logins with another password', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-double-'));
    const double = await EventStoreDbDouble.start({ certificate: makeCertificate(folder) });
    double.access.anonymous = 'none';
    double.access.setUser('admin', 'changeit');
    const client = EventStoreDBClient.connectionString(double.url.replace('esdb://', `esdb://${admin}@`));
    const append = () => client.appendToStream('orders-1', [jsonEvent({ type: 'Tried', data: {} })]);
    try {
      await append();
      double.access.setUser('admin', 'another');
      await assert.rejects(client.readStream('orders-1').toArray(), /401/);
      assert.equal(double.access.refusedLogins, 1);
      double.access.setUser('admin', 'changeit');
      await append();
    } finally {
      await client.dispose();
      await double.kill();
      await rm(folder, { recursive: true });
    }
  });
});

describe('positions of EventStoreDbDouble', function () {
  this.timeout(30_000);

  const refusals: Readonly<Record<ServerRelease, RegExp>> = {
    '23.10': /Unexpected ReadAllResult: Error/,
    '24': /Unexpected ReadAllResult: InvalidPosition/,
  };

  for (const manner of serverReleases)
    it(`refuses one in the middle of a record as ${manner} does, until the log is scavenged`, async () => {
      const double = await EventStoreDbDouble.start({ manner });
      const client = new NodeClient(double);
      try {
        const [first, second] = [await client.append('orders-1'), await client.append('orders-1')];
        for (const backwards of [false, true])
          await assert.rejects(client.readAll({ from: first + 1, backwards }), refusals[manner]);
        assert.deepEqual(await client.readAll({ from: second + 1 }), []);
        double.log.scavenge();
        assert.deepEqual(await client.readAll({ from: first + 1 }), [second]);
        await assert.rejects(client.readAll({ from: double.log.end + 1, backwards: true }), /ReadAllResult: Error/);
      } finally {
        client.close();
        await double.kill();
      }
    });
});
