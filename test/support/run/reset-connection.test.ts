import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetConnection } from './reset-connection.ts';

/** Resets the server's end of a connection, and returns whether it was closed. A socket that stays open fails the file. */
async function isClosedAfter(prepare: (socket: Socket) => void): Promise<boolean> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  const [[socket]] = await Promise.all([once(server, 'connection') as Promise<[Socket]>, once(client, 'connect')]);
  prepare(socket);
  resetConnection(socket);
  client.resume();
  await once(server.close(), 'close');
  return socket.closed;
}

describe('resetConnection', () => {
  it('closes a connection that is idle', async () => {
    assert.equal(await isClosedAfter(() => {}), true);
  });

  it('closes a connection whose end is being sent', async () => {
    assert.equal(await isClosedAfter((socket) => socket.end('x')), true);
  });

  it('closes a connection whose bytes are being sent', async () => {
    assert.equal(await isClosedAfter((socket) => socket.write(Buffer.alloc(20_000_000))), true);
  });
});
