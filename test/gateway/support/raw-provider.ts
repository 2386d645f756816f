import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A connection to the provider. */
export interface RawConnection {
  readonly socket: Socket;
  /** Its place among all connections, from 1. */
  readonly number: number;
}

/** Handles a request whose body is complete. */
export type RawBehaviour = (connection: RawConnection, body: Buffer) => void;

/** A provider that writes what a test says, byte for byte, whether it is HTTP or not. */
export class RawProvider {
  /** The bodies of all complete requests, each with the number of its connection. */
  readonly seen: { readonly connection: number; readonly body: string }[] = [];
  readonly sockets = new Set<Socket>();
  connections = 0;
  /** Called when the head of a request has come, and perhaps a part of its body. */
  onHead: (connection: RawConnection) => void = () => undefined;
  #behaviours: ReadonlyArray<RawBehaviour> = [];
  readonly #server = createServer((socket) => this.#serve(socket));

  static async start(): Promise<RawProvider> {
    const provider = new RawProvider();
    const { promise, resolve } = Promise.withResolvers<void>();
    provider.#server.listen(0, '127.0.0.1', resolve);
    await promise;
    return provider;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the answers to the next requests; the last one also answers all that follow. */
  answers(...behaviours: ReadonlyArray<RawBehaviour>): void {
    this.#behaviours = behaviours;
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    for (const socket of this.sockets) socket.destroy();
    await promise;
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    const connection = { socket, number: this.connections };
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    let received = Buffer.alloc(0);
    let hasHead = false;
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (;;) {
        const headEnd = received.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        if (!hasHead) this.onHead(connection);
        hasHead = true;
        const length = Number(/content-length: (\d+)/i.exec(received.toString('latin1', 0, headEnd))?.[1] ?? 0);
        const end = headEnd + 4 + length;
        if (received.length < end) return;
        const body = received.subarray(headEnd + 4, end);
        received = received.subarray(end);
        hasHead = false;
        this.#answer(connection, body);
      }
    });
  }

  #answer(connection: RawConnection, body: Buffer): void {
    this.seen.push({ connection: connection.number, body: String(body) });
    const [behaviour] = this.#behaviours;
    if (this.#behaviours.length > 1) this.#behaviours = this.#behaviours.slice(1);
    behaviour?.(connection, body);
  }
}

/** An answer of status 200 with a length. */
export function answerOf(text: string, more = ''): string {
  return `HTTP/1.1 200 OK\r\n${more}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Writes bytes. */
export const raw =
  (...pieces: ReadonlyArray<string>): RawBehaviour =>
  ({ socket }) => {
    for (const piece of pieces) socket.write(piece);
  };

/** Answers with the text of the request's body, as a provider without faults does. */
export const echo: RawBehaviour = ({ socket }, body) => void socket.write(answerOf(String(body)));
