import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '#bench/http-processes/processes.ts';

/** Opens connections, sends some bytes on each, reads nothing for a time, and closes them. */
export async function sendAndReadNothing(
  { url }: Server,
  connections: number,
  request: string,
  heldMs: number,
): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => send(url, request)));
  await sleep(heldMs);
  for (const socket of sockets) socket.destroy();
}

/** The text of a GET request without a body. @param fields further header fields, as `Name: value` */
export function getRequest(path: string, key: string, ...fields: ReadonlyArray<string>): string {
  return [`GET ${path} HTTP/1.1`, 'Host: a', `x-api-key: ${key}`, ...fields, '\r\n'].join('\r\n');
}

async function send(url: string, request: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(request);
  return socket;
}
