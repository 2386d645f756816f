import { setTimeout as sleep } from 'node:timers/promises';
import { cut, type ProxiedConnection, ProxyListener } from './proxy-listener.ts';

/**
 * Returns what is called with the bytes that the client sends.
 * @param mute drops all later answers on the connection
 */
type Observe = (mute: () => void) => (request: Buffer) => void;

/** Forwards bytes between a client and a server on this machine, in order, and adds faults on request. */
export class TcpProxy {
  readonly #listener: ProxyListener;
  readonly #observe: Observe;
  /** The connections whose answers are dropped. */
  readonly #muted = new WeakSet<ProxiedConnection>();
  #requestsLeft = Number.POSITIVE_INFINITY;
  #delayMs = 0;

  /**
   * @param target the server's port
   * @param observe called for each connection
   */
  constructor(target: number, observe: Observe = () => () => undefined) {
    this.#observe = observe;
    this.#listener = new ProxyListener(target, (connection) => this.#join(connection));
  }

  listen(): Promise<void> {
    return this.#listener.listen();
  }

  /** How many connections are open. */
  get connections(): number {
    return [...this.#listener.connections].length;
  }

  /**
   * Returns an address with the server's port replaced by this proxy's. A client of MongoDB stays with it, although the server
   * names the members of its replica set.
   */
  through(url: string): string {
    const proxied = this.#listener.through(url);
    return url.startsWith('mongodb:') ? `${proxied}?directConnection=true` : proxied;
  }

  /** Cuts all connections at the request after so many, and refuses new ones. */
  cutAfter(requests: number): void {
    this.#requestsLeft = requests;
  }

  /** Cuts all connections now; new ones are accepted. */
  cut(): void {
    this.#listener.cut();
  }

  /** Drops all answers on the current connections; requests still arrive. New connections work. */
  dropAnswers(): void {
    for (const connection of this.#listener.connections) this.#muted.add(connection);
  }

  /** Reads no more requests from the current connections, so that large ones fill their buffers. New connections work. */
  stopReading(): void {
    for (const { client } of this.#listener.connections) client.pause();
  }

  /** Delays every answer; zero ends the delay. */
  delay(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  close(): Promise<void> {
    return this.#listener.close();
  }

  #join(connection: ProxiedConnection): void {
    if (this.#requestsLeft <= 0) {
      cut(connection);
      return;
    }
    const { client, server } = connection;
    const observe = this.#observe(() => this.#muted.add(connection));
    client.on('data', (data) => {
      observe(data);
      this.#requestsLeft -= 1;
      if (this.#requestsLeft < 0) this.cut();
      else server.write(data);
    });
    let answered = Promise.resolve();
    server.on('data', (data) => {
      const dueAt = performance.now() + this.#delayMs;
      // In turn, so that later bytes never overtake delayed ones when a delay ends early.
      answered = answered.then(() => this.#answer(connection, data, dueAt));
    });
  }

  async #answer(connection: ProxiedConnection, data: Buffer, dueAt: number): Promise<void> {
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    if (!this.#muted.has(connection) && !connection.client.destroyed) connection.client.write(data);
  }
}
