import {
  type Db,
  MongoBulkWriteError,
  MongoClient,
  MongoClientClosedError,
  type MongoClientOptions,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerError,
  MongoSystemError,
  MongoTopologyClosedError,
} from 'mongodb';
import { withTimeoutError } from '#shared/async/with-timeout.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { duplicateKey } from './duplicate-key.ts';

const defaultTimeoutMilliseconds = 5000;
const closeLimitMilliseconds = 2000;
/** After so many limits of time without an answer the next calls are made by another client. */
const patience = 2;
const maxConnections = 16;
const maxUpdates = 1000;
const maxFerretDbUpdates = 5;
const defaultDatabase = 'switchyard';

/** The server's codes for what passes by itself: it stops, starts, elects, is too slow, or its disk is full. */
const passingCodes = new Set([
  1, // InternalError
  6, // HostUnreachable
  7, // HostNotFound
  18, // AuthenticationFailed: while credentials are being changed
  50, // MaxTimeMSExpired
  64, // WriteConcernFailed
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  175, // QueryPlanKilled: the collection was dropped meanwhile
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  duplicateKey, // Every write here that can meet it is right when it is sent again
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13388, // StaleConfig
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
  14031, // OutOfDiskSpace
]);

export interface MongoDbConnectionOptions {
  /** `mongodb://…` or `mongodb+srv://…`. Its path names the database; default `switchyard`. */
  readonly url: string;
  /** How long one call may take in all, finding the server included. Default 5 s. */
  readonly timeoutMilliseconds?: number;
}

/** A bounded pool of connections to one database. It connects at the first call, and again by itself after an outage. */
export class MongoDbConnection {
  readonly #url: string;
  readonly #timeoutMilliseconds: number;
  #client: MongoClient;
  #database: Db;
  /** When the first of the calls began that have all failed since one was answered. */
  #failingSince: number | null = null;
  #maxUpdates: number | null = null;
  #closed = false;

  /** @throws StartupError if the address is malformed, with nothing secret of it in its message */
  constructor({ url, timeoutMilliseconds = defaultTimeoutMilliseconds }: MongoDbConnectionOptions) {
    this.#url = url;
    this.#timeoutMilliseconds = timeoutMilliseconds;
    this.#client = clientFor(url, timeoutMilliseconds);
    this.#database = this.#client.db(databaseOf(url));
  }

  /**
   * Calls the database, no longer than the limit.
   * @throws UnavailableError in place of every failure that passes by itself; other errors as they are
   */
  async call<Result>(work: (database: Db) => Promise<Result>): Promise<Result> {
    if (this.#closed) throw new UnavailableError('The connection to MongoDB is closed.');
    const began = performance.now();
    const database = this.#database;
    try {
      const result = await within(this.#timeoutMilliseconds, work(database));
      this.#failingSince = null;
      return result;
    } catch (error) {
      // The client was closed under it, or another has taken its place.
      const isOver = this.#closed || database !== this.#database;
      if (isOver && error instanceof MongoError) throw new UnavailableError('The connection to MongoDB was closed.');
      const told = named(error);
      if (isOfServer(error)) this.#failingSince = null;
      else if (!isOver && told instanceof UnavailableError) this.#unanswered(began);
      throw told;
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
    await closed(this.#client);
  }

  /**
   * Takes another client when one goes on to fail. The driver (7.9.0) waits for ever for a connection that is cut just
   * when it writes to it: to drain, which it will not. Where that is the one that looks after the server, no call is
   * sent any more, however well the server is; where it is another, the pool is one connection smaller from then on.
   */
  #unanswered(began: number): void {
    this.#failingSince = Math.min(this.#failingSince ?? began, began);
    if (performance.now() - this.#failingSince < patience * this.#timeoutMilliseconds) return;
    this.#failingSince = null;
    void closed(this.#client);
    this.#client = clientFor(this.#url, this.#timeoutMilliseconds);
    this.#database = this.#client.db(databaseOf(this.#url));
  }
}

async function closed(client: MongoClient): Promise<void> {
  // A server that does not answer cannot be told goodbye, and need not be.
  await within(closeLimitMilliseconds, client.close()).catch(() => undefined);
}

function optionsWith(timeoutMilliseconds: number): MongoClientOptions {
  return {
    appName: 'switchyard',
    maxPoolSize: maxConnections,
    // The driver's one limit for a whole call, `timeoutMS`, has no effect any more: these bound the steps of it.
    serverSelectionTimeoutMS: timeoutMilliseconds,
    connectTimeoutMS: timeoutMilliseconds,
    waitQueueTimeoutMS: timeoutMilliseconds,
    socketTimeoutMS: timeoutMilliseconds,
    // A server alone loses what it had not written to its journal when it dies; whoever wrote it does not know.
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMilliseconds },
    // Whoever has written reads what was written.
    readPreference: 'primary',
    // What follows from several writes is sent again as a whole; a single one by itself could pass over a lost one.
    retryWrites: false,
  };
}

function clientFor(url: string, timeoutMilliseconds: number): MongoClient {
  try {
    return new MongoClient(url, optionsWith(timeoutMilliseconds));
  } catch (error) {
    // Others may quote the URL, password and all; the parser's own, at most a user's name.
    const told = error instanceof Error && error.name === 'MongoParseError' && !error.message.startsWith('Username');
    throw new StartupError(
      `The MongoDB URL cannot be used. ${told ? `${error.message}.` : 'Check its hosts and options, and percent-encode its password.'}`,
    );
  }
}

/** @throws UnavailableError, too, when it is late; what it does later is not waited for */
function within<Result>(milliseconds: number, work: Promise<Result>): Promise<Result> {
  return withTimeoutError(milliseconds, work, () => new UnavailableError('MongoDB does not answer in time.'));
}

function databaseOf(url: string): string {
  const named = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  return named === undefined ? defaultDatabase : decodeURIComponent(named);
}

/** The message is the driver's class and the server's code alone: texts may show addresses and documents. */
function named(error: unknown): unknown {
  if (!passes(error)) return error;
  const code = error instanceof MongoServerError ? ` ${error.code}` : '';
  return new UnavailableError(`MongoDB cannot be used just now (${error.name}${code}).`);
}

function passes(error: unknown): error is Error {
  if (error instanceof MongoBulkWriteError) return bulkPasses(error);
  if (error instanceof MongoServerError) return isPassingCode(error.code) || error.hasErrorLabel('RetryableWriteError');
  return [
    MongoNetworkError,
    MongoSystemError,
    MongoOperationTimeoutError,
    MongoNotConnectedError,
    MongoTopologyClosedError,
    MongoServerClosedError,
    MongoClientClosedError,
  ].some((kind) => error instanceof kind);
}

/** The driver wraps all that a bulk meets, a connection that breaks too: then the wrapper has no code of its own. */
function bulkPasses(error: MongoBulkWriteError): boolean {
  const met = metBy(error);
  return met instanceof Error ? passes(met) : codesOf(error).every(isPassingCode);
}

function metBy({ errorResponse }: MongoBulkWriteError): unknown {
  return errorResponse;
}

/** Whether the server has answered, if only that it will not. */
function isOfServer(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError && metBy(error) instanceof Error) return isOfServer(metBy(error));
  return error instanceof MongoServerError;
}

/** Whether a bulk failed because documents were there already, and for nothing else. */
export function areDuplicates(error: unknown): boolean {
  return error instanceof MongoBulkWriteError && codesOf(error).every((code) => code === duplicateKey);
}

/** What the server refused in a bulk: the first of it, or that a majority has not stored it, and each single write. */
function codesOf({ code, err, writeErrors }: MongoBulkWriteError): ReadonlyArray<unknown> {
  return [err?.code ?? code, ...[writeErrors].flat().map((one) => one.code)];
}

function isPassingCode(code: unknown): boolean {
  return typeof code === 'number' && passingCodes.has(code);
}
