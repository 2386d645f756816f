import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { MongoClient, ObjectId } from 'mongodb';
import { openGridFsBlobStore } from '#blob-store/blob-store.gridfs.ts';
import { BlobTooLargeError } from '#blob-store/blob-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { blobStoreContract } from '#test/contract/blob-store.ts';
import { blobSweepContract } from '#test/contract/blob-sweep.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb, describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

describeOnMongoDb('openGridFsBlobStore', (server) => {
  blobStoreContract('GridFS', async () => {
    const url = server.newUrl();
    const open = () => openGridFsBlobStore({ url, timeoutMs: patientTimeoutMs });
    return { store: open(), reopen: async () => open(), dispose: async () => undefined };
  });

  blobSweepContract('GridFS', async () => openGridFsBlobStore({ url: server.newUrl(), timeoutMs: patientTimeoutMs }));

  it('removes the remains of an upload that ended more than a day ago, and keeps every blob in use', async () => {
    const url = server.newUrl();
    const client = new MongoClient(url);
    const first = openGridFsBlobStore({ url, timeoutMs: patientTimeoutMs });
    await first.put('kept', oneChunk(), 100);
    await first.close();
    const second = openGridFsBlobStore({ url, timeoutMs: patientTimeoutMs });
    try {
      const dead = new ObjectId();
      const since = new Date(Date.now() - 25 * 60 * 60 * 1000);
      const used = await client.db().collection<{ _id: string; file: ObjectId }>('blobs').findOne({ _id: 'kept' });
      const leftovers = client.db().collection('blobLeftovers');
      await client
        .db()
        .collection('blobContents.chunks')
        .insertOne({ files_id: dead, n: 0, data: Buffer.from('half') });
      await leftovers.insertMany([
        { _id: dead, blob: 'dead', since },
        { _id: used?.file ?? dead, blob: 'kept', since },
      ]);
      await second.put('other', oneChunk(), 100);
      await eventually(async () => (await leftovers.countDocuments()) === 0, 'a sweep');
      const chunks = await client.db().collection('blobContents.chunks').find().toArray();
      assert.equal(chunks.length, 2);
      assert.ok(chunks.every((chunk) => !dead.equals(chunk.files_id)));
      const kept = await second.get('kept');
      assert.ok(kept);
      assert.equal(String(await buffer(kept)), 'content');
    } finally {
      await second.close();
      await client.close();
    }
  });

  it('keeps no bytes of replaced, deleted or too large blobs', async () => {
    const url = server.newUrl();
    const client = new MongoClient(url);
    const store = openGridFsBlobStore({ url, timeoutMs: patientTimeoutMs });
    try {
      for (const id of ['a', 'a', 'b']) await store.put(id, oneChunk(), 100);
      await store.delete('b');
      await assert.rejects(store.put('c', oneChunk(), 1), BlobTooLargeError);
      const counts = ['blobContents.files', 'blobContents.chunks', 'blobLeftovers'].map((name) =>
        client.db().collection(name).countDocuments(),
      );
      assert.deepEqual(await Promise.all(counts), [1, 1, 0]);
    } finally {
      await store.close();
      await client.close();
    }
  });
});

describeOnOwnMongoDb('openGridFsBlobStore on a slow server', (mongoDb) => {
  it('stores a blob without waiting for the remains of other uploads to be removed', async () => {
    const url = mongoDb.newUrl();
    const proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    const client = new MongoClient(url);
    const store = openGridFsBlobStore({ url: proxy.through(url), timeoutMs: patientTimeoutMs });
    try {
      const leftovers = client.db().collection('blobLeftovers');
      const since = new Date(Date.now() - 25 * 60 * 60 * 1000);
      await leftovers.insertMany(Array.from({ length: 50 }, () => ({ blob: 'dead', since })));
      proxy.delay(50);
      await store.put('file', oneChunk(), 100);
      assert.notEqual(await leftovers.countDocuments(), 0);
      proxy.delay(0);
      await eventually(async () => (await leftovers.countDocuments()) === 0, 'a sweep');
    } finally {
      await store.close();
      await client.close();
      await proxy.close();
    }
  });
});

describeOnOwnMongoDb('openGridFsBlobStore on a failing server', (mongoDb) => {
  it('throws an UnavailableError within its limit while the server is frozen, and works again afterwards', async () => {
    const store = openGridFsBlobStore({ url: mongoDb.newUrl(), timeoutMs: 500 });
    try {
      await store.put('file', oneChunk(), 100);
      mongoDb.freeze();
      try {
        await assert.rejects(store.put('other', oneChunk(), 100), UnavailableError);
        await assert.rejects(store.get('file'), UnavailableError);
      } finally {
        mongoDb.thaw();
      }
      // Calls are refused until the store has been probed again.
      await eventually(async () => (await store.put('other', oneChunk(), 100).catch(() => 0)) === 7);
      assert.equal(await store.size('file'), 7);
    } finally {
      await store.close();
    }
  });
});

async function* oneChunk(): AsyncIterable<Uint8Array> {
  yield Buffer.from('content');
}
