import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { CountingMongoDbProxy } from './mongodb-commands.ts';
import { describeOnOwnMongoDb } from './mongodb-server.ts';

describeOnOwnMongoDb('CountingMongoDbProxy', (mongoDb) => {
  it('counts commands by name and collection, long ones in many parts and later pages of a cursor too', async () => {
    const proxy = new CountingMongoDbProxy(mongoDb.port);
    await proxy.listen();
    const client = new MongoClient(proxy.through(mongoDb.newUrl()));
    try {
      const [leases, notes] = [client.db().collection('leases'), client.db().collection('notes')];
      await notes.insertMany([{ text: 'x'.repeat(1_000_000) }, { text: 'short' }]);
      proxy.reset();
      await notes.insertOne({ text: 'x'.repeat(1_000_000) });
      for (let read = 0; read < 3; read += 1) await leases.findOne({ name: 'projections' });
      await notes.find().batchSize(2).toArray();
      const counts = proxy.counts().filter(({ collection }) => collection !== '');
      assert.deepEqual(counts, [
        { command: 'find', collection: 'leases', count: 3 },
        { command: 'insert', collection: 'notes', count: 1 },
        { command: 'find', collection: 'notes', count: 1 },
        { command: 'getMore', collection: 'notes', count: 1 },
      ]);
    } finally {
      await client.close();
      await proxy.close();
    }
  });
});
