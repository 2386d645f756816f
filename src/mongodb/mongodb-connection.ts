import type { Db } from 'mongodb';
import { type MongoDbClientOptions, mongoDbClosedError, ReconnectingClient } from './reconnecting-client.ts';

/** Options of a connection, either with a client of its own, or over one that its owner closes later. */
export type MongoDbConnectionOptions = MongoDbClientOptions | { readonly connection: MongoDbConnection };

/** A bounded pool of connections to one database. It connects at the first call, and reconnects after an outage. */
export class MongoDbConnection {
  readonly #client: ReconnectingClient;
  readonly #isOwner: boolean;
  readonly #running = new Set<(error: Error) => void>();
  #closed = false;

  /** @throws StartupError for a malformed address, without secrets in the message */
  constructor(options: MongoDbConnectionOptions) {
    this.#isOwner = !('connection' in options);
    this.#client = 'connection' in options ? options.connection.#client : new ReconnectingClient(options);
  }

  /**
   * Calls the database within the time limit, and only while the server is not known to be unavailable.
   * @throws UnavailableError in place of a temporary failure; other errors unchanged
   */
  async call<Result>(work: (database: Db) => Promise<Result>): Promise<Result> {
    if (this.#closed) throw mongoDbClosedError();
    const { promise: ended, reject: end } = Promise.withResolvers<never>();
    this.#running.add(end);
    try {
      return await Promise.race([this.#client.call(work), ended]);
    } finally {
      this.#running.delete(end);
    }
  }

  /** Maximum updates of one command. @throws UnavailableError */
  maxUpdates(): Promise<number> {
    return this.#client.maxUpdates();
  }

  /** @throws UnavailableError */
  async collectionNames(): Promise<ReadonlyArray<string>> {
    const found = await this.call((database) => database.listCollections({}, { nameOnly: true }).toArray());
    return found.map(({ name }) => name);
  }

  /** Ends running calls and closes every connection within 2 s. A shared pool is left to its owner. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#running) end(mongoDbClosedError());
    if (this.#isOwner) await this.#client.close();
  }
}
