import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { openMongoDbLeaseStore } from '#leases/lease-store.mongodb.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { leaseStoreContract } from '#test/contract/lease-store.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';

/** Long enough for a busy machine: no test here is about the limit. */
const timeoutMs = 20_000;

describeOnMongoDb('openMongoDbLeaseStore', (server) => {
  leaseStoreContract('MongoDB', () => {
    const url = server.newUrl();
    return () => openMongoDbLeaseStore({ url, timeoutMs });
  });

  it('keeps one document for each lease, however many terms it has had', async () => {
    const url = server.newUrl();
    const store = openMongoDbLeaseStore({ url, timeoutMs });
    const client = new MongoClient(url);
    try {
      for (let token = 1; token <= 5; token += 1) await store.begin('work', token, 'holder');
      await store.begin('other', 1, 'holder');
      assert.equal(await client.db().collection('leases').countDocuments(), 2);
    } finally {
      await client.close();
      await store.close();
    }
  });

  it('shows the newer term while a successor has not removed the older one yet, and removes both with the next', async () => {
    const url = server.newUrl();
    const store = openMongoDbLeaseStore({ url, timeoutMs });
    const client = new MongoClient(url);
    try {
      await store.begin('work', 1, 'older');
      const successor = { _id: 'work#2', name: 'work', token: 2, holder: 'newer', renewals: 0, released: false };
      await client.db().collection<{ _id: string }>('leases').insertOne(successor);
      assert.equal(await store.renewAll([{ name: 'work', token: 1 }]), 1);
      const shown = { token: 2, holder: 'newer', renewals: 0, released: false };
      assert.deepEqual(await store.newestOfAll(), new Map([['work', shown]]));
      // The successor has died. The node that sees its term as over begins the next one.
      assert.equal(await store.begin('work', 3, 'next'), true);
      const left = await client.db().collection<{ _id: string }>('leases').find().toArray();
      assert.deepEqual(
        left.map(({ _id }) => _id),
        ['work#3'],
      );
    } finally {
      await client.close();
      await store.close();
    }
  });

  it('throws an UnavailableError once it is closed', async () => {
    const store = openMongoDbLeaseStore({ url: server.newUrl(), timeoutMs });
    await store.close();
    await assert.rejects(store.newestOfAll(), UnavailableError);
  });
});
