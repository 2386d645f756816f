import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const host = '127.0.0.1';

/** A connection through the proxy. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Whether the server's answers are dropped. */
  isMuted: boolean;
  /** Resolves after the delayed answers; the next answer waits for it. */
  answered: Promise<void>;
}

/**
 * Returns what is called with the bytes that the client sends.
 * @param mute drops all later answers on the connection
 */
type Observe = (mute: () => void) => (request: Buffer) => void;

/** Forwards bytes between a client and a server on this machine, in order, and adds faults on request. */
export class TcpProxy {
  readonly #target: number;
  readonly #observe: Observe;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #port = 0;
  #requestsLeft = Number.POSITIVE_INFINITY;
  #delayMs = 0;

  /**
   * @param target the server's port
   * @param observe called for each connection
   */
  constructor(target: number, observe: Observe = () => () => undefined) {
    this.#target = target;
    this.#observe = observe;
    this.#server = createServer((client) => this.#join(client));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address !== null && typeof address !== 'string') this.#port = address.port;
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Returns an address with the server's port replaced by this proxy's. */
  through(url: string): string {
    return url.replace(`:${this.#target}`, `:${this.#port}`);
  }

  /** Cuts all connections at the request after so many, and refuses new ones. */
  cutAfter(requests: number): void {
    this.#requestsLeft = requests;
  }

  /** Cuts all connections now; new ones are accepted. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Drops all answers on the current connections; requests still arrive. New connections work. */
  dropAnswers(): void {
    for (const pair of this.#pairs) pair.isMuted = true;
  }

  /** Reads no more requests from the current connections, so that large ones fill their buffers. New connections work. */
  stopReading(): void {
    for (const { client } of this.#pairs) client.pause();
  }

  /** Delays every answer; zero ends the delay. */
  delay(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    if (this.#requestsLeft <= 0) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, host);
    const pair: Pair = { client, server, isMuted: false, answered: Promise.resolve() };
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', end).on('close', end);
    const observe = this.#observe(() => {
      pair.isMuted = true;
    });
    client.on('data', (data) => {
      observe(data);
      this.#requestsLeft -= 1;
      if (this.#requestsLeft < 0) this.cut();
      else server.write(data);
    });
    server.on('data', (data) => {
      const dueAt = performance.now() + this.#delayMs;
      // In turn, so that later bytes never overtake delayed ones when a delay ends early.
      pair.answered = pair.answered.then(() => this.#answer(pair, data, dueAt));
    });
  }

  async #answer(pair: Pair, data: Buffer, dueAt: number): Promise<void> {
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    if (!pair.isMuted && !pair.client.destroyed) pair.client.write(data);
  }
}
