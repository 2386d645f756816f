import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { microseconds } from './pacing.ts';

/** The load to send, read as JSON from the standard input. */
export interface StreamLoad {
  /** The URL for chat completions, Messages or Responses. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The number of concurrent streams. */
  readonly connections: number;
  /** The time in ms after which no stream begins. Each connection carries at least one stream. */
  readonly seconds: number;
}

/** The result; printed as JSON. */
export interface StreamLoadResult {
  readonly streams: number;
  readonly perSecond: number;
  /**
   * The median time of both directions, without the upstream's own time: from the request to its arrival upstream,
   * and from the first content's departure there to its arrival here.
   */
  readonly wayMicroseconds: number;
  /** The number of streams that failed or broke off. */
  readonly failed: number;
  /** A description of the first failure. */
  readonly firstFailure: string | null;
}

const { url, headers, body, connections, seconds } = JSON.parse(readFileSync(0, 'utf8')) as StreamLoad;

const { hostname, port, host, pathname } = new URL(url);
const request = [
  `POST ${pathname} HTTP/1.1`,
  `Host: ${host}`,
  ...Object.entries({ ...headers, 'content-type': 'application/json' }).map(([name, value]) => `${name}: ${value}`),
  `Content-Length: ${Buffer.byteLength(body)}`,
  '',
  body,
].join('\r\n');
const success = 'HTTP/1.1 200 ';
const firstContent = /"(?:content|text|delta)":"(\d+) (\d+)"/;
const endOfStream = /(?:data: \[DONE\]|"message_stop"\}|\}\}|"sequence_number":\d+\})\n\n(?:\r\n)?0\r\n\r\n$/;

const ways: number[] = [];
let failed = 0;
let firstFailure: string | null = null;

/**
 * A connection that carries one stream after the other, read as bytes. The time of a client's parser must not be
 * counted as the gateway's, because this process shares the machine with the measured process.
 */
class StreamConnection {
  readonly #socket: Socket;
  #startedAt = 0;
  #beginning: string | null = '';
  #end = '';
  #settle: ((failure: string | null) => void) | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
    socket.on('error', (error) => this.#settle?.(String(error)));
    socket.on('close', () => this.#settle?.(`The connection closed after ${JSON.stringify(this.#end)}`));
  }

  /** Sends one stream and reads it to its end. @returns the reason for a failure; null after a success */
  stream(): Promise<string | null> {
    this.#beginning = '';
    this.#end = '';
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#startedAt = microseconds();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#settle = null;
    this.#socket.destroy();
  }

  #read(text: string): void {
    if (this.#beginning !== null) this.#readBeginning(this.#beginning + text);
    this.#end = (this.#end + text).slice(-48);
    if (endOfStream.test(this.#end)) this.#settle?.(this.#beginning === null ? null : 'There was no content.');
  }

  #readBeginning(beginning: string): void {
    const arrivedAt = microseconds();
    this.#beginning = beginning;
    if (beginning.length >= success.length && !beginning.startsWith(success)) {
      this.#settle?.(beginning);
      return;
    }
    const [, receivedAt, sentAt] = firstContent.exec(beginning) ?? [];
    if (receivedAt === undefined) return;
    ways.push(Number(receivedAt) - this.#startedAt + arrivedAt - Number(sentAt));
    this.#beginning = null;
  }
}

async function connected(): Promise<StreamConnection> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  return new StreamConnection(socket);
}

const started = performance.now();
const last = started + seconds * 1_000;

async function runConnection(): Promise<void> {
  let connection = await connected();
  do {
    const failure = await connection.stream();
    if (failure === null) continue;
    failed += 1;
    firstFailure ??= failure;
    connection.close();
    connection = await connected();
  } while (performance.now() < last && failed < 100);
  connection.close();
}

await Promise.all(Array.from({ length: connections }, runConnection));
const elapsed = (performance.now() - started) / 1_000;

const sorted = ways.toSorted((one, other) => one - other);
const outcome: StreamLoadResult = {
  streams: ways.length,
  perSecond: ways.length / elapsed,
  wayMicroseconds: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
  failed,
  firstFailure,
};
process.stdout.write(JSON.stringify(outcome));
