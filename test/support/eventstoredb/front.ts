import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '#test/support/run/free-port.ts';

/** The two ends of a connection through the front. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes. */
  held: boolean;
  wasHeld: boolean;
}

/**
 * A TCP port in front of a server: the port stays the same when the server behind it stops and starts, and connections
 * can be frozen and cut as a network does it.
 */
export class Front {
  readonly #pairs = new Set<Pair>();
  #listener: Server | null = null;
  #target: number | null = null;
  #port = 0;
  #frozen = false;

  /** Fixed at the first `open`. */
  get port(): number {
    return this.#port;
  }

  /** Listens. @param target port of the server behind, on this machine */
  async open(target: number): Promise<void> {
    this.#target = target;
    const listener = createServer({ pauseOnConnect: true }, (client) => this.#accept(client));
    this.#listener = listener;
    if (this.#port === 0) this.#port = await freePort();
    listener.listen(this.#port, '127.0.0.1');
    await once(listener, 'listening');
  }

  /** Nothing passes, in either direction; new connections are taken and left without a word. Connections stay. */
  freeze(): void {
    this.#frozen = true;
    for (const pair of this.#pairs) this.#hold(pair);
  }

  /** What was held back passes. */
  thaw(): void {
    this.#frozen = false;
    for (const pair of this.#pairs) this.#release(pair);
  }

  /** New connections pass; those that were frozen stay so, as behind a node that died without a word. */
  thawNew(): void {
    this.#frozen = false;
  }

  /** Resets every connection. */
  cut(): void {
    for (const { client, server, wasHeld } of [...this.#pairs]) {
      // Node 24 never ends its process after the reset of a socket with writes that were held back.
      if (wasHeld) client.destroy();
      else client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Takes no more connections; those that are stay. */
  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#listener = null;
    if (listener === null) return;
    // Ends when the last connection does, which need not be soon.
    listener.close();
  }

  /** Refuses and cuts. */
  async close(): Promise<void> {
    await this.refuse();
    this.cut();
  }

  #accept(client: Socket): void {
    if (this.#target === null) return void client.destroy();
    const server = connect(this.#target, '127.0.0.1');
    const pair = { client, server, held: false, wasHeld: false };
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
    pair.wasHeld = true;
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
    pair.client.destroy();
    pair.server.destroy();
  }
}
