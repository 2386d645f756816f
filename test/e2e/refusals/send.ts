import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';

/** Where a service listens: on a port of this machine, or on its control socket. */
export type Address = { readonly port: number } | { readonly socketPath: string };

/** Ends what was begun. */
export type Leave = () => unknown;

/** A request over HTTP, on a connection of its own. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string;
}

/** An answer, read to its end. */
export interface ReceivedAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a request, reads the whole answer, and closes the connection. */
export async function send(address: Address, sent: SentRequest): Promise<ReceivedAnswer> {
  const open = openRequest(address, sent);
  const closed = new Promise((resolve) => open.once('close', resolve));
  const answer = await answerTo(open, () => open.end(sent.body));
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece;
  open.destroy();
  await closed;
  return { status: answer.statusCode ?? 0, text };
}

/** Sends a request, and leaves its answer open. */
export async function open(
  address: Address,
  sent: SentRequest,
): Promise<{ readonly status: number; readonly leave: Leave }> {
  const opened = openRequest(address, sent);
  const answer = await answerTo(opened, () => opened.end(sent.body));
  answer.resume().on('error', () => undefined);
  return { status: answer.statusCode ?? 0, leave: () => opened.destroy() };
}

/** Sends a request whose body has no end. */
export function begin(address: Address, { body = '', ...sent }: SentRequest): Leave {
  const begun = openRequest(address, sent);
  begun.on('error', () => undefined);
  begun.write(body);
  return () => begun.destroy();
}

/** Asks for several paths on one connection, and reads no answer. */
export function askUnread(port: number, key: string, paths: ReadonlyArray<string>): Leave {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nx-api-key: ${key}\r\n\r\n`).join(''));
  return () => socket.destroy();
}

function openRequest(address: Address, { method, path, headers }: Omit<SentRequest, 'body'>): ClientRequest {
  const where = 'port' in address ? { host: '127.0.0.1', ...address } : address;
  return request({ ...where, method, path, headers, agent: false });
}

function answerTo(asked: ClientRequest, ask: () => void): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asked.once('response', resolve).once('error', reject);
    ask();
  });
}
