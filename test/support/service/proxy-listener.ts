import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

const host = '127.0.0.1';

/** A client's connection to a proxy, and the proxy's own to the server. When one ends, the other one ends too. */
export interface ProxiedConnection {
  readonly client: Socket;
  readonly server: Socket;
}

/** Accepts the connections of a proxy, and opens one to a server on this machine for each. */
export class ProxyListener {
  readonly #target: number;
  readonly #join: (connection: ProxiedConnection) => void;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  #port = 0;

  /**
   * @param target the server's port
   * @param join called with each new connection, before bytes arrive
   */
  constructor(target: number, join: (connection: ProxiedConnection) => void) {
    this.#target = target;
    this.#join = join;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** The open connections. */
  get connections(): Iterable<ProxiedConnection> {
    return this.#connections;
  }

  /** Its host and port. */
  get address(): string {
    return `${host}:${this.#port}`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address !== null && typeof address !== 'string') this.#port = address.port;
  }

  /** Returns an address with the server's port replaced by that of this listener. */
  through(url: string): string {
    return url.replace(`:${this.#target}`, `:${this.#port}`);
  }

  /** Cuts all connections now; new ones are accepted. */
  cut(): void {
    for (const connection of this.#connections) cut(connection);
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    const connection = { client, server: connect(this.#target, host) };
    this.#connections.add(connection);
    const end = () => {
      this.#connections.delete(connection);
      cut(connection);
    };
    for (const socket of [client, connection.server]) socket.setNoDelay(true).on('error', end).on('close', end);
    this.#join(connection);
  }
}

/** Cuts a connection in both directions. */
export function cut({ client, server }: ProxiedConnection): void {
  client.destroy();
  server.destroy();
}
