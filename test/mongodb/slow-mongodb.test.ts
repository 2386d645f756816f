import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoDbAvailability } from '#mongodb/mongodb-availability.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { eventually } from '#test/support/run/eventually.ts';
import type { MongoDbProcess } from '#test/support/service/mongodb-process.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

/** The delays of each answer of a slow server. */
const delaysMs = [200, 400, 1_000, 1_400];

/** Returns the end of a test's title: only a short sample is not long. */
const long = (delayMs: number) => (delayMs === delaysMs[0] ? '' : ' @long');

const isAnswered = (call: Promise<unknown>) =>
  call.then(
    () => true,
    () => false,
  );

const ping = (connection: MongoDbConnection) => connection.call((database) => database.command({ ping: 1 }));

/** Connections of a node, behind a proxy that makes their server slow. */
class SlowMongoDb {
  readonly proxy: TcpProxy;
  readonly lines: string[] = [];
  readonly #url: string;
  readonly #availability: MongoDbAvailability;
  readonly #opened: MongoDbConnection[] = [];

  private constructor(proxy: TcpProxy, url: string) {
    this.proxy = proxy;
    this.#url = proxy.through(url);
    const line = (_: object, message: string) => void this.lines.push(message);
    this.#availability = new MongoDbAvailability({ url: this.#url, log: { info: line, warn: line, error: line } });
  }

  static async behind(server: MongoDbProcess): Promise<SlowMongoDb> {
    const proxy = new TcpProxy(server.port);
    await proxy.listen();
    return new SlowMongoDb(proxy, server.newUrl());
  }

  connect(timeoutMs: number): MongoDbConnection {
    const connection = new MongoDbConnection({ url: this.#url, availability: this.#availability, timeoutMs });
    this.#opened.push(connection);
    return connection;
  }

  async close(): Promise<void> {
    for (const opened of [...this.#opened, this.#availability, this.proxy]) await opened.close();
  }
}

describeOnOwnMongoDb('A slow MongoDB', (server) => {
  let mongoDb: SlowMongoDb;
  beforeEach(async () => {
    mongoDb = await SlowMongoDb.behind(server);
  });
  afterEach(async () => {
    server.thaw();
    await mongoDb.close();
  });

  for (const delayMs of delaysMs)
    it(`is reached from cold and stays available while each answer takes ${delayMs} ms${long(delayMs)}`, async () => {
      mongoDb.proxy.delay(delayMs);
      const connection = mongoDb.connect(3 * delayMs);
      await eventually(() => isAnswered(ping(connection)), 'the first answer');
      for (let call = 0; call < 5; call += 1) await ping(connection);
      assert.deepEqual(mongoDb.lines, []);
    });

  for (const delayMs of delaysMs)
    it(`is unavailable once at most when its answers begin to take ${delayMs} ms${long(delayMs)}`, async () => {
      const connection = mongoDb.connect(3 * delayMs);
      await ping(connection);
      mongoDb.proxy.delay(delayMs);
      await isAnswered(ping(connection));
      await eventually(() => isAnswered(ping(connection)), 'an answer');
      for (let call = 0; call < 5; call += 1) await ping(connection);
      assert.ok(mongoDb.lines.length <= 2, mongoDb.lines.join('\n'));
    });

  for (const delayMs of delaysMs)
    it(`is used by all after an outage that ends with answers after ${delayMs} ms${long(delayMs)}`, async () => {
      const clients = [mongoDb.connect(1_000), mongoDb.connect(5_000)];
      await Promise.all(clients.map(ping));
      const ending = new AbortController();
      const calling = clients.map(async (client) => {
        while (!ending.signal.aborted) {
          await isAnswered(ping(client));
          await sleep(100);
        }
      });
      server.freeze();
      await eventually(async () => mongoDb.lines.length > 0, 'an outage');
      mongoDb.proxy.delay(delayMs);
      server.thaw();
      await sleep(5 * delayMs);
      mongoDb.proxy.delay(0);
      ending.abort();
      await Promise.all(calling);
      for (const client of clients) await eventually(() => isAnswered(ping(client)), 'an answer');
      assert.deepEqual(mongoDb.lines, [
        'MongoDB cannot be used; it is probed until it can',
        'MongoDB can be used again',
      ]);
    });
});
