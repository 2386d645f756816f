import assert from 'node:assert/strict';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { findRefusedActions, userActions } from '#mongodb/user-actions.ts';
import { describeOnFerretDb, describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { describeWithUsers } from '#test/support/service/mongodb-users.ts';

async function withConnection(url: string, use: (connection: MongoDbConnection) => Promise<void>): Promise<void> {
  const connection = new MongoDbConnection({ url });
  try {
    await use(connection);
  } finally {
    await connection.close();
  }
}

describeWithUsers('findRefusedActions of a user with rights', (server) => {
  it('finds nothing when the user has every right that is needed', () =>
    withConnection(server.urlWithout(null), async (connection) => {
      assert.deepEqual(await findRefusedActions(connection, 'a'), []);
    }));

  for (const action of userActions)
    it(`finds that the user lacks ${action}`, () =>
      withConnection(server.urlWithout(action), async (connection) => {
        assert.deepEqual(await findRefusedActions(connection, 'a'), [action]);
      }));
});

for (const [engine, describeOn] of [
  ['SecantusDB', describeOnMongoDb],
  ['FerretDB', describeOnFerretDb],
] as const)
  describeOn(`findRefusedActions on ${engine} without users`, (server) => {
    it('finds nothing, leaves no document, and may run again after a try that was cut off', () =>
      withConnection(server.newUrl(), async (connection) => {
        assert.deepEqual(await findRefusedActions(connection, 'a'), []);
        const tried = <Result>(work: (rights: import('mongodb').Collection<{ _id: string }>) => Promise<Result>) =>
          connection.call((database) => work(database.collection('rights')));
        assert.equal(await tried((rights) => rights.countDocuments()), 0);
        await tried((rights) => rights.insertOne({ _id: 'a' }));
        assert.deepEqual(await findRefusedActions(connection, 'a'), []);
        assert.equal(await tried((rights) => rights.countDocuments()), 0);
      }));

    it('finds nothing for several nodes that start at the same time', () =>
      withConnection(server.newUrl(), async (connection) => {
        const found = await Promise.all(['a', 'b', 'c'].map((id) => findRefusedActions(connection, id)));
        assert.deepEqual(found, [[], [], []]);
      }));
  });
