import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, it } from 'mocha';
import { ClientErrors } from '#http/server/client-errors.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('Errors of clients', () => {
  it('ends fifty connections in a turn of the event loop, however many clients leave in it', async () => {
    const errors = new ClientErrors();
    const sockets = Array.from({ length: 120 }, () => new PassThrough() as unknown as Socket);
    const countEnded = () => sockets.filter(({ writableEnded }) => writableEnded).length;
    for (const socket of sockets) void errors.answer(new Error('left'), socket);
    await Promise.resolve();
    assert.equal(countEnded(), 50);
    await eventually(() => countEnded() === 120, 'all are ended');
    for (const socket of sockets) socket.destroy();
  });

  it('answers an error that is reported twice once', async () => {
    const errors = new ClientErrors();
    const others = Array.from({ length: 50 }, () => new PassThrough() as unknown as Socket);
    for (const socket of others) void errors.answer(new Error('left'), socket);
    const socket = new PassThrough() as unknown as Socket;
    await Promise.all([errors.answer(new Error('not HTTP'), socket), errors.answer(new Error('not HTTP'), socket)]);
    assert.deepEqual([socket.writableEnded, socket.destroyed], [true, false]);
    assert.match(String(socket.read()), /^HTTP\/1\.1 400 /);
    for (const each of [socket, ...others]) each.destroy();
  });
});
