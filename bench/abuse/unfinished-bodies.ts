import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminKey } from '#bench/http-processes/processes.ts';
import type { AbuseScenario } from './scenario.ts';

const mebibyte = 1024 * 1024;
const bodies = 20;
const bodyBytes = 30 * mebibyte;
const heldMs = 2_000;

/** Many chats at once of one key, each without its last byte. */
const unfinishedBodies: AbuseScenario = {
  title: '20 unfinished bodies of 30 MiB of one key',
  maxBytesAboveIdle: 250 * mebibyte,
  attack: async ({ url }) => {
    const sockets = await Promise.all(Array.from({ length: bodies }, () => sendUnfinished(new URL(url))));
    await sleep(heldMs);
    for (const socket of sockets) socket.destroy();
    return undefined;
  },
};

/** Sends all of a body but its end, as far as the service takes it. */
async function sendUnfinished({ hostname, port }: URL): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  // The service may end a body that it has no room for.
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  const fields = [
    'Host: a',
    `Authorization: Bearer ${adminKey}`,
    'Content-Type: application/json',
    `Content-Length: ${bodyBytes}`,
  ];
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
  const piece = Buffer.alloc(mebibyte, ' ');
  for (let sent = 0; sent < bodyBytes - mebibyte && !socket.destroyed; sent += piece.length) {
    if (!socket.write(piece)) await drained(socket);
  }
  return socket;
}

/** Resolves when the socket takes more, or is closed. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      socket.off('drain', end).off('close', end);
      resolve();
    };
    socket.on('drain', end).on('close', end);
  });
}

export default unfinishedBodies;
