import assert from 'node:assert/strict';
import type { EndedCommand } from '#mongodb/command-monitor.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';

describeOnOwnMongoDb('monitorCommands', (mongoDb) => {
  let ended: EndedCommand[];
  let connection: MongoDbConnection;

  beforeEach(() => {
    ended = [];
    connection = new MongoDbConnection({ url: mongoDb.newUrl(), onCommand: (command) => ended.push(command) });
  });
  afterEach(() => connection.close());

  const outcomes = () => ended.map(({ command, outcome }) => [command, outcome]);

  it('reports each command with its outcome and its time, and nothing of its content', async () => {
    await connection.call((database) => database.collection('things').insertOne({ secret: 'hidden' }));
    await connection.call((database) => database.collection('things').findOne({ secret: 'hidden' }));
    assert.deepEqual(outcomes(), [
      ['insert', 'succeeded'],
      ['find', 'succeeded'],
    ]);
    for (const { milliseconds } of ended) assert.ok(milliseconds >= 0 && milliseconds < 60_000);
    assert.ok(!JSON.stringify(ended).includes('hidden'));
  });

  it('reports a command that the server refuses, and any unknown one as other', async () => {
    await assert.rejects(connection.call((database) => database.command({ madeUp: 1 })));
    await assert.rejects(connection.call((database) => database.command({ find: 7 })));
    assert.deepEqual(outcomes(), [
      ['other', 'failed'],
      ['find', 'failed'],
    ]);
  });
});
