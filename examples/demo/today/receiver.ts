import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** Every how many requests one is refused. */
const refusedEvery = 4;

/**
 * The demo's receiver of webhooks: a server on this machine that refuses some deliveries for the moment, so that the
 * service repeats them.
 */
export class Receiver {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async open(): Promise<Receiver> {
    let requests = 0;
    const server = createServer((request, response) => {
      request.resume();
      requests += 1;
      response.writeHead(requests % refusedEvery === 1 ? 503 : 204).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return new Receiver(server, `http://127.0.0.1:${port}/webhooks`);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
