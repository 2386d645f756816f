import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

const answerMs = 150;

describeOnOwnMongoDb('CallScope', (mongoDb) => {
  let proxy: TcpProxy;
  let connection: MongoDbConnection;
  let limitMs: number;

  beforeEach(async () => {
    proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    limitMs = answerMs;
    connection = new MongoDbConnection({ url: proxy.through(mongoDb.newUrl()), timeoutMs: () => limitMs });
  });
  afterEach(async () => {
    await connection.close();
    await proxy.close();
  });

  const insert = () => connection.call((database) => database.collection('things').insertOne({}));
  const count = () => connection.call((database) => database.collection('things').countDocuments());
  const isAnswered = (call: Promise<unknown>) =>
    call.then(
      () => true,
      () => false,
    );

  it('lets a client connect whose handshake takes longer than a call, and sends nothing for a call that is over', async () => {
    proxy.delay(answerMs);
    await assert.rejects(insert(), UnavailableError);
    limitMs = 10_000;
    await eventually(() => isAnswered(count()), 'a connection');
    proxy.delay(0);
    assert.equal(await count(), 0);
    await insert();
    assert.equal(await count(), 1);
  });

  it('leaves the monitor of the server alone that began during a call', async () => {
    let made = 0;
    const counting = new TcpProxy(mongoDb.port, () => {
      made += 1;
      return () => undefined;
    });
    await counting.listen();
    // Without a second connection for the monitor's own measurements, which opens later.
    const options = 'heartbeatFrequencyMS=500&serverMonitoringMode=poll';
    const monitored = new MongoDbConnection({ url: `${counting.through(mongoDb.newUrl())}&${options}` });
    const ping = () => monitored.call((database) => database.command({ ping: 1 }));
    try {
      await ping();
      const before = made;
      await sleep(1_500);
      await ping();
      assert.equal(made, before, 'the server was connected again');
    } finally {
      await monitored.close();
      await counting.close();
    }
  });
});
