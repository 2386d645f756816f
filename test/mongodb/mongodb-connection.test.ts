import assert from 'node:assert/strict';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Collection, MongoServerError } from 'mongodb';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/eventstoredb/eventually.ts';
import { describeOnFerretDb } from '#test/support/service/ferretdb.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

/** A port that nobody listens on. */
const nobody = '127.0.0.1:1';
const timeoutMilliseconds = 200;
/** The driver looks after its server at once when a call fails, if it has not for half a second. */
const afterHeartbeatMilliseconds = 600;

describe('connection to MongoDB', () => {
  const opened: MongoDbConnection[] = [];
  const open = (url: string) => {
    const connection = new MongoDbConnection({ url, timeoutMilliseconds });
    opened.push(connection);
    return connection;
  };
  afterEach(() => Promise.all(opened.splice(0).map((connection) => connection.close())));

  it('is unavailable within its limit where nobody listens, and tells no secret', async () => {
    const connection = open(`mongodb://user:secret@${nobody}/`);
    const asked = performance.now();
    await assert.rejects(
      connection.call((database) => database.command({ ping: 1 })),
      (error) =>
        error instanceof UnavailableError && !error.message.includes('secret') && !error.message.includes('127.0'),
    );
    assert.ok(performance.now() - asked < timeoutMilliseconds + 1000);
  });

  it('gives up what never answers', async () => {
    await assert.rejects(
      open(`mongodb://${nobody}`).call(() => new Promise(() => {})),
      UnavailableError,
    );
  });

  it('takes its database from the address, or its own', async () => {
    const nameAt = (url: string) => open(url).call(async (database) => database.databaseName);
    assert.equal(await nameAt(`mongodb://${nobody}`), 'switchyard');
    assert.equal(await nameAt(`mongodb://${nobody}/?appName=x`), 'switchyard');
    assert.equal(await nameAt(`mongodb://${nobody},127.0.0.1:2/my%20own?appName=x`), 'my own');
  });

  it('tells what passes by itself from what does not', async () => {
    const failing = (code: number) =>
      open(`mongodb://${nobody}`).call(() => Promise.reject(new MongoServerError({ code, errmsg: 'no' })));
    for (const code of [91, 189, 10107, 11600, 14031]) await assert.rejects(failing(code), UnavailableError);
    for (const code of [2, 59, 10334]) await assert.rejects(failing(code), MongoServerError);
    await assert.rejects(
      open(`mongodb://${nobody}`).call(() => Promise.reject(new TypeError('a mistake'))),
      TypeError,
    );
  });

  it('is unavailable when it is closed', async () => {
    const connection = open(`mongodb://${nobody}`);
    await connection.close();
    await connection.close();
    await assert.rejects(
      connection.call(async () => 1),
      UnavailableError,
    );
  });

  describeOnFerretDb('whose server dies in the middle of a bulk', (ferret) => {
    it('is unavailable', async () => {
      const connection = new MongoDbConnection({ url: ferret.newUrl(), timeoutMilliseconds: 20_000 });
      opened.push(connection);
      const write = () =>
        connection.call((database) => database.collection('things').bulkWrite([{ insertOne: { document: {} } }]));
      await write();
      ferret.freeze();
      const written = assert.rejects(write(), UnavailableError);
      await ferret.kill();
      await written;
    });
  });
});

describeOnFerretDb('connection to a MongoDB that is there', (ferret) => {
  let proxy: TcpProxy;
  let connection: MongoDbConnection;

  beforeEach(async () => {
    proxy = new TcpProxy(ferret.port);
    await proxy.listen();
    connection = new MongoDbConnection({ url: proxy.through(ferret.newUrl()), timeoutMilliseconds });
  });
  afterEach(async () => {
    await connection.close();
    await proxy.close();
  });

  type Work = (things: Collection) => Promise<unknown>;
  const reading: Work = (things) => things.findOne({});
  const writing: Work = (things) => things.bulkWrite([{ insertOne: { document: {} } }]);

  /** Whether a call is answered; what is not is unavailable. */
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
    it(`${what} again whenever it was cut`, async () => {
      for (let cut = 0; cut < 5; cut += 1) {
        await eventually(() => answers(next));
        await sleep(afterHeartbeatMilliseconds);
        const underWay = Array.from({ length: 8 }, () => answers());
        await nextTurn();
        proxy.cut();
        await Promise.all(underWay);
      }
      await eventually(() => answers(next));
    });

  it('is unavailable to whoever calls while it does not answer for long, and goes on afterwards', async () => {
    await eventually(() => answers());
    ferret.freeze();
    try {
      const underWay: Promise<boolean>[] = [];
      for (const end = performance.now() + 5 * timeoutMilliseconds; performance.now() < end; ) {
        underWay.push(answers());
        await sleep(timeoutMilliseconds / 20);
      }
      await Promise.all(underWay);
    } finally {
      ferret.thaw();
    }
    await eventually(() => answers());
  });
});
