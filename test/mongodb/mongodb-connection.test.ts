import assert from 'node:assert/strict';
import { MongoServerError } from 'mongodb';
import { MongoDbConnection } from '#src/mongodb/mongodb-connection.ts';
import { Unavailable } from '#src/unavailable.ts';
import { describeOnFerretDb } from '#test/support/ferretdb.ts';

/** A port that nobody listens on. */
const nobody = '127.0.0.1:1';
const timeoutMilliseconds = 200;

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
      (error) => error instanceof Unavailable && !error.message.includes('secret') && !error.message.includes('127.0'),
    );
    assert.ok(performance.now() - asked < timeoutMilliseconds + 1000);
  });

  it('gives up what never answers', async () => {
    await assert.rejects(
      open(`mongodb://${nobody}`).call(() => new Promise(() => {})),
      Unavailable,
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
    for (const code of [91, 189, 10107, 11600, 14031]) await assert.rejects(failing(code), Unavailable);
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
      Unavailable,
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
      const written = assert.rejects(write(), Unavailable);
      await ferret.kill();
      await written;
    });
  });
});
