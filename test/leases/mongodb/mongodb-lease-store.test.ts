import assert from 'node:assert/strict';
import { type Collection, MongoClient } from 'mongodb';
import { openMongoDbLeaseStore } from '#leases/lease-store.mongodb.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { leaseStoreContract } from '#test/contract/lease-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';

/** Long enough for a busy machine: no test here is about the limit. */
const timeoutMs = 20_000;
const expiryMs = 1_400;

describeOnMongoDb('openMongoDbLeaseStore', (server) => {
  leaseStoreContract('MongoDB', () => {
    const url = server.newUrl();
    return () => openMongoDbLeaseStore({ url, timeoutMs });
  });

  describe('documents', () => {
    let store: LeaseStore;
    let client: MongoClient;
    let documents: Collection<{ _id: string }>;

    beforeEach(() => {
      const url = server.newUrl();
      store = openMongoDbLeaseStore({ url, timeoutMs });
      client = new MongoClient(url);
      documents = client.db().collection('leases');
    });
    afterEach(async () => {
      await store.close();
      await client.close();
    });

    const ids = async () => (await documents.find().toArray()).map(({ _id }) => _id).sort();

    it('keeps one for each lease, however many terms it has had', async () => {
      for (let token = 1; token <= 5; token += 1) await store.begin('work', token, 'holder', expiryMs);
      await store.begin('other', 1, 'holder', expiryMs);
      await eventually(async () => (await ids()).join() === 'other#1,work#5', 'the removal of older terms');
    });

    it('removes both terms of a successor that died before the removal, with the next term', async () => {
      await store.begin('work', 1, 'older', expiryMs);
      const successor = { _id: 'work#2', name: 'work', token: 2, holder: 'newer', renewals: 0, released: false };
      await documents.insertOne(successor);
      assert.equal((await store.newestOfAll()).get('work')?.token, 2);
      assert.equal(await store.begin('work', 3, 'next', expiryMs), true);
      await eventually(async () => (await ids()).join() === 'work#3', 'the removal of older terms');
    });

    it('reads a term of release 0.5.0, whose holder counts renewals and writes no expiry', async () => {
      const old = { _id: 'work#7', name: 'work', token: 7, holder: 'old', renewals: 0, released: false };
      await documents.insertOne(old);
      await documents.updateMany({ _id: { $in: ['work#7'] } }, { $inc: { renewals: 1 } });
      const seen = { token: 7, holder: 'old', renewals: 1, expiryMs: 1_400, released: false };
      assert.deepEqual(await store.newestOfAll(), new Map([['work', seen]]));
      assert.equal(await store.begin('work', 8, 'new', expiryMs), true);
    });

    it('has the members that release 0.5.0 reads, and one more', async () => {
      await store.begin('work', 1, 'node', expiryMs);
      await store.renewAll([{ name: 'work', token: 1 }], { number: 4, expiryMs: 2_000 });
      const stored = {
        _id: 'work#1',
        name: 'work',
        token: 1,
        holder: 'node',
        renewals: 4,
        expiryMs: 2_000,
        released: false,
      };
      assert.deepEqual(await documents.findOne(), stored);
    });

    it('ends a removal that runs when it is closed', async () => {
      await store.begin('work', 1, 'node', expiryMs);
      await store.close();
      await assert.rejects(store.begin('work', 2, 'node', expiryMs), UnavailableError);
    });
  });

  it('throws an UnavailableError once it is closed', async () => {
    const store = openMongoDbLeaseStore({ url: server.newUrl(), timeoutMs });
    await store.close();
    await assert.rejects(store.newestOfAll(), UnavailableError);
  });
});
