import { type Db, type MongoClient, MongoError } from 'mongodb';
import { withTimeout, withTimeoutError } from '#shared/async/with-timeout.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { MongoDbAvailability } from './mongodb-availability.ts';
import { clientFor, closeClient, databaseOf, ping } from './mongodb-client.ts';
import { awayError, isOfServer, namedFailure } from './mongodb-failure.ts';

const defaultTimeoutMs = 5000;
/** After this many timeouts without an answer in between, a new client makes the next calls. */
const patience = 2;
/** A probe that takes longer counts as failed: so long at least, or this part of what a call may take. */
const leastProbeTimeoutMs = 500;
const probePartOfTimeout = 0.1;
/** A client that does not answer so soon after the server is back is replaced: so long at least, or as many times as long as the server took. */
const leastRecoveryMs = 250;
const recoveryFactor = 4;
const maxUpdates = 1000;
const maxFerretDbUpdates = 5;

export interface MongoDbConnectionOptions {
  /** `mongodb://…` or `mongodb+srv://…`. Its path names the database; default `switchyard`. */
  readonly url: string;
  /** How long one call may take in all, finding the server included. Default 5 s. */
  readonly timeoutMs?: number;
  /** What all connections to that address know together; it outlives the connection. Default: the connection's own. */
  readonly availability?: MongoDbAvailability;
}

/**
 * A bounded pool of connections to one database. It connects at the first call, and again by itself after an outage.
 */
export class MongoDbConnection {
  readonly #url: string;
  readonly #timeoutMs: number;
  #client: MongoClient;
  #database: Db;
  /** When the first of the calls began that have all failed since one was answered. */
  #failingSince: number | null = null;
  #maxUpdates: number | null = null;
  #closed = false;
  readonly #availability: MongoDbAvailability;
  /** Ends its part in the availability. */
  readonly #leave: () => void | Promise<void>;

  /** @throws StartupError if the address is malformed, with nothing secret of it in its message */
  constructor({ url, timeoutMs = defaultTimeoutMs, availability }: MongoDbConnectionOptions) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
    this.#client = clientFor(url, timeoutMs);
    this.#database = this.#client.db(databaseOf(url));
    const probeTimeoutMs = Math.max(leastProbeTimeoutMs, timeoutMs * probePartOfTimeout);
    const known = availability ?? new MongoDbAvailability({ url, probeTimeoutMs });
    const leave = known.add({ ensureUsable: (tookMs) => this.#ensureUsable(tookMs) });
    this.#availability = known;
    this.#leave = availability === undefined ? () => known.close() : leave;
  }

  /**
   * Calls the database, no longer than the limit, and only while the server is not known to be away.
   * @throws UnavailableError in place of every failure that passes by itself; other errors as they are
   */
  async call<Result>(work: (database: Db) => Promise<Result>): Promise<Result> {
    if (this.#closed) throw new UnavailableError('The connection to MongoDB is closed.');
    const { state } = this.#availability;
    if (state.cause !== null) throw awayError(state.cause);
    return state.unlessAway(this.#call(work), (cause) => {
      throw awayError(cause);
    });
  }

  async #call<Result>(work: (database: Db) => Promise<Result>): Promise<Result> {
    const began = performance.now();
    const database = this.#database;
    try {
      const result = await within(this.#timeoutMs, work(database));
      this.#failingSince = null;
      this.#availability.state.answered();
      return result;
    } catch (error) {
      // The client was closed under it, or another has taken its place.
      const isOver = this.#closed || database !== this.#database;
      if (isOver && error instanceof MongoError) throw new UnavailableError('The connection to MongoDB was closed.');
      const namedError = namedFailure(error, this.#availability.urlName);
      if (isOfServer(error)) {
        this.#failingSince = null;
        this.#availability.state.answered();
      } else if (!isOver && namedError instanceof UnavailableError) {
        this.#availability.state.suspect();
        this.#unanswered(began);
      }
      throw namedError;
    }
  }

  /**
   * How many updates one command may hold. FerretDB keeps a connection of its pool of 100 for each until the command
   * ends, and never answers when the pool runs dry.
   * @throws UnavailableError
   */
  async maxUpdates(): Promise<number> {
    if (this.#maxUpdates === null) {
      const build = await this.call((database) => database.command({ buildInfo: 1 }));
      this.#maxUpdates = build.ferretdbVersion === undefined ? maxUpdates : maxFerretDbUpdates;
    }
    return this.#maxUpdates;
  }

  /** Ends calls under way and closes every connection; 2 s at most. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([this.#leave(), closeClient(this.#client)]);
  }

  /** Replaces a client whose calls do not reach the server although it answers. */
  async #ensureUsable(tookMs: number): Promise<void> {
    const client = this.#client;
    const reached = ping(client).then(
      () => true,
      () => false,
    );
    const isUsable = await withTimeout(Math.max(leastRecoveryMs, tookMs * recoveryFactor), reached, false);
    if (!isUsable && client === this.#client) this.#replaceClient();
  }

  /**
   * Replaces a client that keeps failing. The driver (7.9.0) waits for ever for a connection that is cut while it
   * writes to it, because that connection never drains. If it is the monitoring connection, no call is sent any more
   * although the server is up; if it is another one, the pool has one connection less from then on.
   */
  #unanswered(began: number): void {
    this.#failingSince = Math.min(this.#failingSince ?? began, began);
    if (performance.now() - this.#failingSince < patience * this.#timeoutMs) return;
    this.#replaceClient();
  }

  #replaceClient(): void {
    if (this.#closed) return;
    this.#failingSince = null;
    void closeClient(this.#client);
    this.#client = clientFor(this.#url, this.#timeoutMs);
    this.#database = this.#client.db(databaseOf(this.#url));
  }
}

/** @throws UnavailableError, too, when it is late; what it does later is not waited for */
function within<Result>(milliseconds: number, work: Promise<Result>): Promise<Result> {
  return withTimeoutError(milliseconds, work, () => new UnavailableError('MongoDB does not answer in time.'));
}
