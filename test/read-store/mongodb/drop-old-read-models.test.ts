import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { dropOldReadModels } from '#read-store/mongodb/drop-old-read-models.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';

describeOnMongoDb('dropOldReadModels', (server) => {
  it('drops the read models of release 0.3 and nothing else', async () => {
    const url = server.newUrl();
    const client = new MongoClient(url);
    try {
      const kept = ['documents.flows.3', 'leases', 'readModelGenerations', 'records', 'subjectKeys'];
      for (const name of [...kept, 'documents7', 'documents12', 'readModels', 'counters'])
        await client.db().collection<{ _id: string }>(name).insertOne({ _id: 'one' });
      const dropped = await dropOldReadModels({ url });
      assert.deepEqual(dropped.toSorted(), ['counters', 'documents12', 'documents7', 'readModels']);
      const left = await client.db().listCollections({}, { nameOnly: true }).toArray();
      assert.deepEqual(left.map(({ name }) => name).toSorted(), kept);
      assert.deepEqual(await dropOldReadModels({ url }), []);
    } finally {
      await client.close();
    }
  });
});
