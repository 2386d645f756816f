import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoDbAvailability } from '#mongodb/mongodb-availability.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

const limitMs = 300;

describeOnOwnMongoDb('A client of MongoDB', (mongoDb) => {
  let proxy: TcpProxy;
  let lines: string[];
  /** How many lines each of them represents in addition, if any. */
  let repeated: unknown[];
  let limitOfCalls: number;
  let availability: MongoDbAvailability;
  let connection: MongoDbConnection;

  beforeEach(async () => {
    proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    lines = [];
    repeated = [];
    limitOfCalls = limitMs;
    const url = proxy.through(mongoDb.newUrl());
    const line = (fields: Readonly<Record<string, unknown>>, message: string) => {
      lines.push(message);
      repeated.push(fields.repeated);
    };
    availability = new MongoDbAvailability({ url, log: { info: line, warn: line, error: line } });
    connection = new MongoDbConnection({ url, availability, timeoutMs: () => limitOfCalls, maxPoolSize: 1 });
    await ping();
  });
  afterEach(async () => {
    mongoDb.thaw();
    for (const opened of [connection, availability, proxy]) await opened.close();
  });

  const ping = () => connection.call((database) => database.command({ ping: 1 }));
  const pings = () =>
    ping().then(
      () => true,
      (error: unknown) => {
        assert.ok(error instanceof UnavailableError, String(error));
        return false;
      },
    );
  const replacements = () => lines.filter((line) => line.includes('was replaced')).length;

  it('is replaced within two seconds when it is closed for good, again and again, with one line a minute', async () => {
    limitOfCalls = 60_000;
    for (let death = 1; death <= 4; death += 1) {
      await connection.call((database) => database.client.close());
      assert.equal(await pings(), false);
      await eventually(pings, 'an answer');
    }
    assert.equal(replacements(), 1, lines.join('\n'));
    await availability.close();
    assert.deepEqual(repeated.at(-1), 3, 'the other replacements');
  });

  it('is replaced when its connections are silent, which ends its calls', async () => {
    const waiting = connection.call(async (database) => {
      proxy.dropAnswers();
      await database.command({ ping: 1 });
    });
    await assert.rejects(waiting, UnavailableError);
    await eventually(pings, 'an answer');
    assert.equal(replacements(), 1, lines.join('\n'));
  });

  it('is replaced when its connections are silent, although its calls have longer limits since then', async () => {
    limitOfCalls = 1_000;
    const waiting = connection.call(async (database) => {
      proxy.dropAnswers();
      await database.command({ ping: 1 });
    });
    limitOfCalls = 60_000;
    await assert.rejects(waiting, UnavailableError);
    // The driver closes the silent connection after three limits.
    await eventually(
      () => {
        availability.state.suspect();
        return replacements() === 1;
      },
      'a replacement',
      10_000,
    );
    assert.ok(await pings());
  });

  it('ends a call soon that waits when it is replaced', async () => {
    limitOfCalls = 60_000;
    const waiting = connection.call(async (database) => {
      proxy.dropAnswers();
      await database.command({ ping: 1 });
    });
    const ended = assert.rejects(waiting, UnavailableError).then(() => 'ended');
    limitOfCalls = limitMs;
    await eventually(pings, 'an answer');
    assert.equal(replacements(), 1, lines.join('\n'));
    assert.equal(await withTimeout(5_000, ended, 'waits'), 'ended');
  });

  it('is kept while the server answers nobody', async () => {
    mongoDb.freeze();
    const until = performance.now() + 8 * limitMs;
    while (performance.now() < until) {
      assert.equal(await pings(), false);
      await sleep(limitMs / 10);
    }
    mongoDb.thaw();
    await eventually(pings, 'an answer');
    assert.equal(replacements(), 0);
  });

  it('is kept when a single call takes too long', async () => {
    const slow = connection.call(async (database) => {
      await sleep(2 * limitMs);
      await database.command({ ping: 1 });
    });
    await assert.rejects(slow, UnavailableError);
    await sleep(limitMs);
    availability.state.suspect();
    await sleep(limitMs);
    await ping();
    assert.deepEqual(lines, []);
  });
});
