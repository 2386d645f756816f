import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '#test/support/run/free-port.ts';
import { resetConnection } from '#test/support/run/reset-connection.ts';

/** A connection through the front. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Whether the connection is frozen. */
  held: boolean;
}

/**
 * A TCP port in front of a server: the port stays the same when the server restarts, and connections can be frozen and cut
 * as by a network.
 */
export class Front {
  readonly #pairs = new Set<Pair>();
  #listener: Server | null = null;
  #target: number | null = null;
  #port = 0;
  #frozen = false;
  /** The bytes of closed connections to clients. */
  #bytesSent = 0;

  /** Fixed at the first `open`. */
  get port(): number {
    return this.#port;
  }

  /** The bytes that the server has sent to its clients. */
  get bytesSent(): number {
    let bytes = this.#bytesSent;
    for (const { server } of this.#pairs) bytes += server.bytesRead;
    return bytes;
  }

  /** Listens. @param target the server's port on this machine */
  async open(target: number): Promise<void> {
    this.#target = target;
    const listener = createServer({ pauseOnConnect: true }, (client) => this.#accept(client));
    this.#listener = listener;
    if (this.#port === 0) this.#port = await freePort();
    listener.listen(this.#port, '127.0.0.1');
    await once(listener, 'listening');
  }

  /** Holds back all bytes in both directions. Connections stay open, and new ones are accepted but get no answer. */
  freeze(): void {
    this.#frozen = true;
    for (const pair of this.#pairs) this.#hold(pair);
  }

  /** Forwards the bytes that were held back, and all further ones. */
  thaw(): void {
    this.#frozen = false;
    for (const pair of this.#pairs) this.#release(pair);
  }

  /** Forwards new connections. Frozen ones stay frozen, as after a node has failed silently. */
  thawNew(): void {
    this.#frozen = false;
  }

  /** Resets every connection. */
  cut(): void {
    for (const { client, server } of [...this.#pairs]) {
      resetConnection(client);
      server.destroy();
    }
  }

  /** Refuses new connections, and keeps the current ones. */
  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#listener = null;
    if (listener === null) return;
    // It closes after the last connection, which may take long.
    listener.close();
  }

  /** Refuses new connections, and cuts the current ones. */
  async close(): Promise<void> {
    await this.refuse();
    this.cut();
  }

  #accept(client: Socket): void {
    if (this.#target === null) return void client.destroy();
    const server = connect(this.#target, '127.0.0.1');
    const pair = { client, server, held: false };
    this.#pairs.add(pair);
    client.setNoDelay(true);
    server.setNoDelay(true);
    for (const socket of [client, server]) {
      socket.on('error', () => this.#end(pair));
      socket.on('close', () => this.#end(pair));
    }
    client.pipe(server);
    server.pipe(client);
    if (this.#frozen) this.#hold(pair);
  }

  #hold(pair: Pair): void {
    if (pair.held) return;
    pair.held = true;
    pair.client.unpipe(pair.server).pause();
    pair.server.unpipe(pair.client).pause();
  }

  #release(pair: Pair): void {
    if (!pair.held) return;
    pair.held = false;
    pair.client.pipe(pair.server);
    pair.server.pipe(pair.client);
  }

  #end(pair: Pair): void {
    if (!this.#pairs.delete(pair)) return;
    this.#bytesSent += pair.server.bytesRead;
    pair.client.destroy();
    pair.server.destroy();
  }
}
