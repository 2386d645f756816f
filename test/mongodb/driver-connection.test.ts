import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoNetworkError, ReadPreference } from 'mongodb';
import { CallScope } from '#mongodb/call-scope.ts';
import { DriverConnection } from '#mongodb/driver-connection.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';

/** The part of the driver's connection that sends commands. */
interface Commanding {
  established: boolean;
  command(namespace: object, command: object, options: object): Promise<unknown>;
}

/** A stream to a server that reads nothing. */
function stuckStream(): Duplex {
  const stream = new Duplex({ read: () => undefined, write: () => undefined, writableHighWaterMark: 1 });
  return Object.assign(stream, { setTimeout: () => undefined });
}

function connectionOver(stream: Duplex): Commanding {
  const options = { id: 1, generation: 0, hostAddress: { toString: () => 'server:1' }, monitorCommands: false };
  return new DriverConnection(stream, options) as unknown as Commanding;
}

function command(connection: Commanding, command: object): Promise<unknown> {
  return connection.command({ db: 'admin' }, command, { readPreference: ReadPreference.primary });
}

const pingOn = (stream: Duplex) => command(connectionOver(stream), { ping: 1 });

const largeBytes = 8 * 1024 * 1024;

describe('DriverConnection', () => {
  it('ends a command when its stream is closed while it waits for the server to read', async () => {
    const stream = stuckStream();
    const pinged = assert.rejects(pingOn(stream), MongoNetworkError);
    await sleep(10);
    stream.destroy();
    assert.notEqual(await withTimeout(1_000, pinged, 'hangs'), 'hangs');
  });

  it('ends a command when its stream is closed just before the write', async () => {
    const stream = stuckStream();
    const pinged = assert.rejects(pingOn(stream), MongoNetworkError);
    stream.destroy();
    assert.notEqual(await withTimeout(1_000, pinged, 'hangs'), 'hangs');
  });

  it('sends nothing for a call that is over, except that it closes its cursors', async () => {
    const sent: string[] = [];
    const stream = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _, done) => {
        sent.push(bytes.toString('latin1'));
        done();
      },
    });
    const connection = connectionOver(Object.assign(stream, { setTimeout: () => undefined }));
    connection.established = true;
    const scope = new CallScope(1_000);
    scope.end();
    const asked = ['ping', 'getMore', 'killCursors'].map((name) =>
      scope.run(() => assert.rejects(command(connection, { [name]: 1 }))),
    );
    await sleep(10);
    stream.destroy();
    await Promise.all(asked);
    assert.equal(sent.length, 1);
    assert.match(String(sent[0]), /killCursors/);
  });
});

describeOnOwnMongoDb('MongoDbConnection to a server that stops reading', (mongoDb) => {
  let proxy: TcpProxy;
  const opened: MongoDbConnection[] = [];

  beforeEach(async () => {
    proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((connection) => connection.close()));
    await proxy.close();
  });

  const open = (timeoutMs: number, maxPoolSize: number) => {
    const connection = new MongoDbConnection({ url: proxy.through(mongoDb.newUrl()), timeoutMs, maxPoolSize });
    opened.push(connection);
    return connection;
  };
  const writeLarge = (connection: MongoDbConnection) =>
    connection.call((database) => database.collection('things').insertOne({ text: 'x'.repeat(largeBytes) }));
  const read = (connection: MongoDbConnection) =>
    connection.call((database) => database.collection('things').findOne({}));

  it('fails a large write within a second when its connection is cut, and works on', async () => {
    const connection = open(10_000, 1);
    await read(connection);
    proxy.stopReading();
    const written = assert.rejects(writeLarge(connection), UnavailableError);
    await sleep(100);
    const cutAt = performance.now();
    proxy.cut();
    await written;
    assert.ok(performance.now() - cutAt < 1_000, 'the write waited for longer');
    await read(connection);
  });

  it('gives the place of a large write that took too long to the next call', async () => {
    const connection = open(500, 1);
    await read(connection);
    proxy.stopReading();
    await assert.rejects(writeLarge(connection), UnavailableError);
    await eventually(() =>
      read(connection).then(
        () => true,
        () => false,
      ),
    );
  });
});
