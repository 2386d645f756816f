import assert from 'node:assert/strict';
import { MongoDbConnections } from '#app/stores/mongodb-connections.ts';
import { openGridFsBlobStore } from '#blob-store/blob-store.gridfs.ts';
import { openMongoDbLeaseStore } from '#leases/lease-store.mongodb.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { commandReader, type MongoDbCommand } from '#test/support/service/mongodb-messages.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

const variable = 'READ_STORE_URL';
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const options = { log: quiet, maxPoolSize: 20, onCommand: () => undefined };
const slowCalls = 40;
const rounds = 10;

describeOnOwnMongoDb('MongoDbConnections', (mongoDb) => {
  let connections: MongoDbConnections;

  beforeEach(() => {
    connections = new MongoDbConnections(options);
  });
  afterEach(() => connections.close());

  it('shares one connection among all callers with the same address and purpose', async () => {
    const url = mongoDb.newUrl();
    const leases = await connections.to(url, variable, 'leases');
    assert.equal(await connections.to(url, variable, 'leases'), leases);
    assert.notEqual(await connections.to(url, variable, 'queries'), leases);
    assert.notEqual(await connections.to(mongoDb.newUrl(), variable, 'leases'), leases);
  });

  it('names the variable of a malformed address', async () => {
    await assert.rejects(
      connections.to('mongodb://', variable, 'blobs'),
      (error) => error instanceof StartupError && error.message.startsWith(variable),
    );
  });

  it('closes a connection only for the store that is closed, until it is closed itself', async () => {
    const connection = await connections.to(mongoDb.newUrl(), variable, 'queries');
    const [first, second] = [openMongoDbRecordStore({ connection }), openMongoDbRecordStore({ connection })];
    await first.close();
    await assert.rejects(first.get('format', 'database'), /is closed/);
    assert.equal(await second.get('format', 'database'), null);
    await connections.close();
    await assert.rejects(second.get('format', 'database'), /is closed/);
  });

  it('renews leases and writes while 40 lists and 40 uploads get no answer', async () => {
    const isSlow = ({ command, collection }: MongoDbCommand) =>
      (command === 'find' && collection === 'documents') ||
      (command === 'insert' && collection === 'blobContents.chunks');
    const proxy = new TcpProxy(mongoDb.port, (mute) =>
      commandReader((sent) => {
        if (isSlow(sent)) mute();
      }),
    );
    await proxy.listen();
    const url = proxy.through(mongoDb.newUrl());
    const leases = openMongoDbLeaseStore({ connection: await connections.to(url, variable, 'leases') });
    const queries = await connections.to(url, variable, 'queries');
    const blobs = openGridFsBlobStore({ connection: await connections.to(url, variable, 'blobs') });
    // The client of the projector thread.
    const writes = new MongoDbConnection({ url, timeoutMs: 10_000 });
    try {
      await leases.begin('projections', 1, 'a node', 1_400);
      let ended = 0;
      const count = () => {
        ended += 1;
      };
      const slow = Array.from({ length: slowCalls }, (_, number) => [
        queries.call((database) => database.collection('documents').find().toArray()).then(count, count),
        blobs.put(`upload-${number}`, content(), 1_000).then(count, count),
      ]).flat();
      for (let round = 0; round < rounds; round += 1) {
        await leases.renewAll([{ name: 'projections', token: 1 }], { number: round + 1, expiryMs: 1_400 });
        await writes.call((database) => database.collection('positions').insertOne({ round }));
      }
      assert.equal(ended, 0, 'a slow call ended before the leases and writes');
      assert.equal((await leases.newestOfAll()).get('projections')?.renewals, rounds);
      await connections.close();
      await Promise.all(slow);
    } finally {
      await writes.close();
      await connections.close();
      await proxy.close();
    }
  });
});

async function* content(): AsyncIterable<Uint8Array> {
  yield new Uint8Array(10);
}
