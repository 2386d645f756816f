import { commandReader, type MongoDbCommand } from './mongodb-messages.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** How often a client has sent a command on a collection. */
export interface CommandCount extends MongoDbCommand {
  readonly count: number;
}

/** A proxy before a server of MongoDB's protocol that counts the commands of all clients, by name and collection. */
export class CountingMongoDbProxy {
  readonly #proxy: TcpProxy;
  readonly #counts = new Map<string, CommandCount>();

  /** @param port the server's */
  constructor(port: number) {
    this.#proxy = new TcpProxy(port, () => commandReader((sent) => this.#count(sent)));
  }

  listen(): Promise<void> {
    return this.#proxy.listen();
  }

  /** Returns an address with the server's port replaced by this proxy's. */
  through(url: string): string {
    return this.#proxy.through(url);
  }

  /** Returns the counts since the start or the last `reset`, the greatest first. */
  counts(): ReadonlyArray<CommandCount> {
    return [...this.#counts.values()].toSorted((one, other) => other.count - one.count);
  }

  /** Begins to count from zero. */
  reset(): void {
    this.#counts.clear();
  }

  close(): Promise<void> {
    return this.#proxy.close();
  }

  #count(sent: MongoDbCommand): void {
    const key = `${sent.command} ${sent.collection}`;
    this.#counts.set(key, { ...sent, count: (this.#counts.get(key)?.count ?? 0) + 1 });
  }
}
