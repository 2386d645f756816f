import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const host = '127.0.0.1';

/** Stands between a client and a server on this machine, and gets in the way when told to. */
export class TcpProxy {
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
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

  /** Holds every answer up. */
  delay(milliseconds: number): void {
    this.#delayMilliseconds = milliseconds;
  }

  async close(): Promise<void> {
    this.#cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    if (this.#requestsLeft <= 0) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, host);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
    client.on('data', (data) => {
      this.#requestsLeft -= 1;
      if (this.#requestsLeft < 0) this.#cut();
      else server.write(data);
    });
    server.on('data', (data) => void this.#answer(client, data));
  }

  async #answer(client: Socket, data: Buffer): Promise<void> {
    if (this.#delayMilliseconds > 0) await sleep(this.#delayMilliseconds);
    if (!client.destroyed) client.write(data);
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
