import assert from 'node:assert/strict';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Collection, MongoServerError } from 'mongodb';
import { MongoDbAvailability } from '#mongodb/mongodb-availability.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { commandReader } from '#test/support/service/mongodb-messages.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

/** A port on which no server listens. */
const nobody = '127.0.0.1:1';
const timeoutMs = 200;
/** When a call fails, the driver checks its server immediately if its last check is half a second old. */
const afterHeartbeatMs = 600;

describe('MongoDbConnection', () => {
  const opened: MongoDbConnection[] = [];
  const open = (url: string) => {
    const connection = new MongoDbConnection({ url, timeoutMs });
    opened.push(connection);
    return connection;
  };
  afterEach(() => Promise.all(opened.splice(0).map((connection) => connection.close())));

  it('throws an UnavailableError without secrets within its limit when no server listens', async () => {
    const connection = open(`mongodb://user:secret@${nobody}/`);
    const asked = performance.now();
    await assert.rejects(
      connection.call((database) => database.command({ ping: 1 })),
      (error) =>
        error instanceof UnavailableError && !error.message.includes('secret') && !error.message.includes('127.0'),
    );
    // Far less than the driver itself would wait.
    assert.ok(performance.now() - asked < timeoutMs + 8_000, 'it waited for longer than its limit');
  });

  it('gives up a call that never answers', async () => {
    await assert.rejects(
      open(`mongodb://${nobody}`).call(() => new Promise(() => {})),
      UnavailableError,
    );
  });

  it('takes the database’s name from the URL, or else its own default', async () => {
    const nameAt = (url: string) => open(url).call(async (database) => database.databaseName);
    assert.equal(await nameAt(`mongodb://${nobody}`), 'switchyard');
    assert.equal(await nameAt(`mongodb://${nobody}/?appName=x`), 'switchyard');
    assert.equal(await nameAt(`mongodb://${nobody},127.0.0.1:2/my%20own?appName=x`), 'my own');
  });

  it('distinguishes temporary errors from permanent ones', async () => {
    const failing = (code: number) =>
      open(`mongodb://${nobody}`).call(() => Promise.reject(new MongoServerError({ code, errmsg: 'no' })));
    for (const code of [91, 189, 10107, 11600, 14031]) await assert.rejects(failing(code), UnavailableError);
    for (const code of [2, 59, 10334]) await assert.rejects(failing(code), MongoServerError);
    await assert.rejects(
      open(`mongodb://${nobody}`).call(() => Promise.reject(new TypeError('a mistake'))),
      TypeError,
    );
  });

  it('names the variable and what to do when the user or password is wrong', async () => {
    const url = `mongodb://${nobody}`;
    const availability = new MongoDbAvailability({ url, urlName: 'READ_STORE_URL' });
    const connection = new MongoDbConnection({ url, availability });
    opened.push(connection);
    await assert.rejects(
      connection.call(() => Promise.reject(new MongoServerError({ code: 18, errmsg: 'Authentication failed.' }))),
      /^UnavailableError: MongoDB cannot be used: the user or password in READ_STORE_URL is wrong/,
    );
    await connection.close();
    await availability.close();
  });

  it('throws an UnavailableError when the server closed the socket before a write, or no connection is free', async () => {
    const ended = Object.assign(new Error('This socket has been ended by the other party'), { code: 'EPIPE' });
    const waited = Object.assign(new Error('Timed out'), { name: 'MongoWaitQueueTimeoutError' });
    for (const error of [ended, waited]) {
      await assert.rejects(
        open(`mongodb://${nobody}`).call(() => Promise.reject(error)),
        UnavailableError,
      );
    }
  });

  it('throws an UnavailableError when it is closed', async () => {
    const connection = open(`mongodb://${nobody}`);
    await connection.close();
    await connection.close();
    await assert.rejects(
      connection.call(async () => 1),
      UnavailableError,
    );
  });

  describeOnOwnMongoDb('MongoDbConnection to a server that dies', (mongoDb) => {
    it('throws an UnavailableError when the server dies during a bulk write', async () => {
      const connection = new MongoDbConnection({ url: mongoDb.newUrl(), timeoutMs: 20_000 });
      opened.push(connection);
      const write = () =>
        connection.call((database) => database.collection('things').bulkWrite([{ insertOne: { document: {} } }]));
      await write();
      mongoDb.freeze();
      const written = assert.rejects(write(), UnavailableError);
      await mongoDb.kill();
      await written;
    });
  });
});

describeOnOwnMongoDb('MongoDbConnection to a running server', (mongoDb) => {
  let proxy: TcpProxy;
  let connection: MongoDbConnection;

  beforeEach(async () => {
    proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    connection = new MongoDbConnection({ url: proxy.through(mongoDb.newUrl()), timeoutMs });
  });
  afterEach(async () => {
    await connection.close();
    await proxy.close();
  });

  type Work = (things: Collection) => Promise<unknown>;
  const reading: Work = (things) => things.findOne({});
  const writing: Work = (things) => things.bulkWrite([{ insertOne: { document: {} } }]);

  /** Whether a call is answered; any other call must throw an UnavailableError. */
  const answers = (work = reading) =>
    connection
      .call((database) => work(database.collection('things')))
      .then(
        () => true,
        (error: unknown) => {
          assert.ok(error instanceof UnavailableError, String(error));
          return false;
        },
      );

  for (const [what, next] of [
    ['reads', reading],
    ['writes in bulks', writing],
  ] as const)
    it(`${what} again after each broken connection`, async () => {
      for (let cut = 0; cut < 2; cut += 1) {
        await eventually(() => answers(next));
        await sleep(afterHeartbeatMs);
        const underWay = Array.from({ length: 8 }, () => answers());
        await nextTurn();
        proxy.cut();
        await Promise.all(underWay);
      }
      await eventually(() => answers(next));
    });

  it('sends its calls over at most as many connections as its bound', async () => {
    const used = new Set<number>();
    let number = 0;
    const counting = new TcpProxy(mongoDb.port, () => {
      number += 1;
      const own = number;
      return commandReader(({ command }) => {
        if (command === 'find') used.add(own);
      });
    });
    await counting.listen();
    const bounded = new MongoDbConnection({ url: counting.through(mongoDb.newUrl()), maxPoolSize: 3 });
    try {
      const read = () => bounded.call((database) => reading(database.collection('things')));
      await Promise.all(Array.from({ length: 100 }, read));
      assert.equal(used.size, 3);
    } finally {
      await bounded.close();
      await counting.close();
    }
  });

  it('throws an UnavailableError while the server is frozen, and works again afterwards', async () => {
    await eventually(() => answers());
    mongoDb.freeze();
    try {
      const underWay: Promise<boolean>[] = [];
      for (const end = performance.now() + 5 * timeoutMs; performance.now() < end; ) {
        underWay.push(answers());
        await sleep(timeoutMs / 20);
      }
      assert.ok((await Promise.all(underWay)).every((isAnswered) => !isAnswered));
    } finally {
      mongoDb.thaw();
    }
    await eventually(() => answers());
  });
});

describeOnOwnMongoDb('MongoDbAvailability of several connections', (mongoDb) => {
  const opened = new Set<{ close(): Promise<void> }>();
  let lines: { readonly level: string; readonly cause?: unknown; readonly message: string }[];
  let connections: ReadonlyArray<MongoDbConnection>;
  const ask = (connection: MongoDbConnection) => connection.call((database) => database.command({ ping: 1 }));

  beforeEach(async () => {
    lines = [];
    const url = mongoDb.newUrl();
    const write = (level: string) => (fields: object, message: string) => lines.push({ level, message, ...fields });
    const log = { info: write('info'), warn: write('warn'), error: write('error') };
    const availability = new MongoDbAvailability({ url, urlName: 'READ_STORE_URL', log });
    connections = [5_000, 6_000, 10_000].map((limitMs) => {
      return new MongoDbConnection({ url, timeoutMs: limitMs, availability });
    });
    for (const one of [...connections, availability]) opened.add(one);
    await Promise.all(connections.map(ask));
  });
  afterEach(async () => {
    mongoDb.thaw();
    for (const one of opened) await one.close();
    opened.clear();
  });

  const outages: ReadonlyArray<readonly [string, RegExp, () => Promise<void>, () => Promise<void>]> = [
    ['killed', /nothing answers at the host and port in READ_STORE_URL: /, () => mongoDb.kill(), () => mongoDb.start()],
    [
      'frozen',
      /it does not answer in time: check that the server of READ_STORE_URL runs/,
      async () => mongoDb.freeze(),
      async () => mongoDb.thaw(),
    ],
  ];

  for (const [name, cause, leave, come] of outages)
    it(`lets all refuse calls once one has found the server ${name}, and answers the first call of each after its return, with one log line for each`, async () => {
      const [first, ...others] = connections as [MongoDbConnection, ...MongoDbConnection[]];
      await leave();
      await assert.rejects(ask(first), UnavailableError);
      await eventually(async () => lines.length > 0);
      for (const other of others) await assert.rejects(ask(other), cause);
      await come();
      await eventually(async () => lines.some(({ level }) => level === 'info'));
      await Promise.all(connections.map(ask));
      assert.equal(lines[0]?.message, 'MongoDB cannot be used; it is probed until it can');
      assert.match(String(lines[0]?.cause), cause);
      assert.equal(lines.at(-1)?.message, 'MongoDB can be used again');
      // A server that starts slowly may be away for another cause meanwhile, which has a separate log line.
      const texts = lines.map((line) => JSON.stringify(line));
      assert.deepEqual(texts, [...new Set(texts)]);
    });
});

describeOnOwnMongoDb('MongoDbConnection to a server that is away', (mongoDb) => {
  let connection: MongoDbConnection;
  const ask = () => connection.call((database) => database.command({ ping: 1 }));

  beforeEach(async () => {
    connection = new MongoDbConnection({ url: mongoDb.newUrl() });
    await ask();
  });
  afterEach(async () => {
    mongoDb.thaw();
    await connection.close();
  });

  const outages: ReadonlyArray<readonly [string, () => Promise<void>, () => Promise<void>]> = [
    ['killed', () => mongoDb.kill(), () => mongoDb.start()],
    ['frozen', async () => mongoDb.freeze(), async () => mongoDb.thaw()],
  ];

  for (const [name, leave, come] of outages)
    it(`knows that the server was ${name}: refuses calls immediately with the cause, and calls again after its return`, async () => {
      await leave();
      const unavailable = /^UnavailableError: MongoDB cannot be used: /;
      await eventually(async () =>
        ask().then(
          () => false,
          (error: unknown) => unavailable.test(String(error)),
        ),
      );
      const durations: number[] = [];
      for (let number = 0; number < 20; number += 1) {
        const began = performance.now();
        await assert.rejects(ask(), unavailable);
        durations.push(performance.now() - began);
      }
      assert.ok(Math.min(...durations) < 100, `the refusals took ${durations.join(', ')} ms`);
      await come();
      await eventually(async () =>
        ask().then(
          () => true,
          () => false,
        ),
      );
    });
});

describeOnOwnMongoDb('MongoDbAvailability at rest', (mongoDb) => {
  it('closes the connections of its probes after a while', async () => {
    const proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    const availability = new MongoDbAvailability({ url: proxy.through(mongoDb.newUrl()), keepProberMs: 300 });
    try {
      availability.state.suspect();
      await eventually(async () => proxy.connections > 0, 'a connection of a probe');
      await eventually(async () => proxy.connections === 0, 'no connection');
      availability.state.suspect();
      await eventually(async () => proxy.connections > 0, 'a connection of the next probe');
    } finally {
      await availability.close();
      await proxy.close();
    }
  });
});

describeOnOwnMongoDb('MongoDbConnection to a server that is slow', (mongoDb) => {
  let proxy: TcpProxy;
  let connection: MongoDbConnection;

  beforeEach(async () => {
    proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    connection = new MongoDbConnection({ url: proxy.through(mongoDb.newUrl()) });
  });
  afterEach(async () => {
    await connection.close();
    await proxy.close();
  });

  it('calls the server again once it knows how long answers take', async () => {
    const ask = () =>
      connection
        .call((database) => database.command({ ping: 1 }))
        .then(
          () => true,
          (error: unknown) => {
            assert.ok(error instanceof UnavailableError, String(error));
            return false;
          },
        );
    await eventually(ask);
    // A new client needs two round trips for its first call.
    proxy.delay(400);
    await eventually(ask);
    await eventually(async () => {
      for (let call = 0; call < 10; call += 1) if (!(await ask())) return false;
      return true;
    }, 'ten answers in a row');
  });
});
