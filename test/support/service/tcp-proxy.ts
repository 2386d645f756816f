import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const host = '127.0.0.1';

/** The two ends of a connection through the proxy. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** What the server answers never arrives. */
  mute: boolean;
  /** The answers that are held up; the next one follows them. */
  answered: Promise<void>;
}

/** Forwards bytes between a client and a server on this machine, in their order, and disturbs them on request. */
export class TcpProxy {
  readonly #target: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #port = 0;
  #requestsLeft = Number.POSITIVE_INFINITY;
  #delayMilliseconds = 0;

  /** @param target the server's port */
  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address !== null && typeof address !== 'string') this.#port = address.port;
  }

  /** An address with this proxy's port in the place of the server's. */
  through(url: string): string {
    return url.replace(`:${this.#target}`, `:${this.#port}`);
  }

  /** Cuts every connection at the request after so many, and takes no more. */
  cutAfter(requests: number): void {
    this.#requestsLeft = requests;
  }

  /** Cuts every connection now; new ones are taken. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Loses every answer on the connections that there are; what they ask arrives. New ones are whole. */
  mute(): void {
    for (const pair of this.#pairs) pair.mute = true;
  }

  /** Holds every answer up; zero for no more. */
  delay(milliseconds: number): void {
    this.#delayMilliseconds = milliseconds;
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
    const pair: Pair = { client, server, mute: false, answered: Promise.resolve() };
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', end).on('close', end);
    client.on('data', (data) => {
      this.#requestsLeft -= 1;
      if (this.#requestsLeft < 0) this.cut();
      else server.write(data);
    });
    server.on('data', (data) => {
      const dueAt = performance.now() + this.#delayMilliseconds;
      // In turn: a delay that ends early must not let later bytes overtake those that are still held up.
      pair.answered = pair.answered.then(() => this.#answer(pair, data, dueAt));
    });
  }

  async #answer(pair: Pair, data: Buffer, dueAt: number): Promise<void> {
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    if (!pair.mute && !pair.client.destroyed) pair.client.write(data);
  }
}
