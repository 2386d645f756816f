import type { Db } from 'mongodb';
import { closedError, type MongoDbClientOptions, ReconnectingClient } from './reconnecting-client.ts';

/** How a store reaches its database: with a client of its own, or over a connection that its owner closes later. */
export type MongoDbConnectionOptions = MongoDbClientOptions | { readonly connection: MongoDbConnection };

/** A bounded pool of connections to one database. It connects at the first call, and reconnects after an outage. */
export class MongoDbConnection {
  readonly #client: ReconnectingClient;
  readonly #isOwner: boolean;
  #closed = false;

  /** @throws StartupError for a malformed address, without secrets in the message */
  constructor(options: MongoDbConnectionOptions) {
    this.#isOwner = !('connection' in options);
    this.#client = 'connection' in options ? options.connection.#client : new ReconnectingClient(options);
  }

  /**
   * Calls the database within the time limit, and only while the server is not known to be away.
   * @throws UnavailableError in place of a temporary failure; other errors unchanged
   */
  async call<Result>(work: (database: Db) => Promise<Result>): Promise<Result> {
    if (this.#closed) throw closedError();
    return this.#client.call(work);
  }

  /**
   * Returns the most updates of one command.
   * @throws UnavailableError
   */
  maxUpdates(): Promise<number> {
    return this.#client.maxUpdates();
  }

  /** Ends running calls and closes every connection within 2 s. A shared pool is left to its owner. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#isOwner) await this.#client.close();
  }
}
