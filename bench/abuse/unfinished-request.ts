import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { adminKey } from '#bench/http-processes/processes.ts';

/** A POST whose body the caller writes and may leave unfinished. */
export interface UnfinishedRequest {
  readonly url: string;
  readonly path: string;
  readonly contentType: string;
  readonly contentLength: number;
  /** Default: the administrator's. */
  readonly key?: string;
}

/** Connects and sends a request's headers. @returns the socket, for the body; an error on it is ignored */
export async function beginRequest({
  url,
  path,
  contentType,
  contentLength,
  key = adminKey,
}: UnfinishedRequest): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // The service may close the connection of a body for which it has no room.
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  const headers = [
    'Host: a',
    `Authorization: Bearer ${key}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${contentLength}`,
  ];
  socket.write(`POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  return socket;
}
