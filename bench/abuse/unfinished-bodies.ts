import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AbuseScenario } from './scenario.ts';
import { beginRequest } from './unfinished-request.ts';

const mebibyte = 1024 * 1024;
const bodies = 20;
const bodyBytes = 30 * mebibyte;
const heldMs = 2_000;

/** Many chats at the same time of one key, each without its last byte. */
const unfinishedBodies: AbuseScenario = {
  title: '20 unfinished bodies of 30 MiB of one key',
  maxBytesAboveIdle: 250 * mebibyte,
  attack: async ({ url }) => {
    const sockets = await Promise.all(Array.from({ length: bodies }, () => sendUnfinished(url)));
    await sleep(heldMs);
    for (const socket of sockets) socket.destroy();
    return undefined;
  },
};

/** Sends a body without its end, up to where the service stops reading it. */
async function sendUnfinished(url: string): Promise<Socket> {
  const path = '/v1/chat/completions';
  const socket = await beginRequest({ url, path, contentType: 'application/json', contentLength: bodyBytes });
  const piece = Buffer.alloc(mebibyte, ' ');
  for (let sent = 0; sent < bodyBytes - mebibyte && !socket.destroyed; sent += piece.length) {
    if (!socket.write(piece)) await drained(socket);
  }
  return socket;
}

/** Resolves when the socket accepts more bytes or is closed. */
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
