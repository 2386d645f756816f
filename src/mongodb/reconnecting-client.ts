import { type Db, type MongoClient, MongoError } from 'mongodb';
import { backOffMs } from '#shared/async/retrying.ts';
import { delay, withTimeout, withTimeoutError } from '#shared/async/timed-waits.ts';
import { chance } from '#shared/chance.ts';
import { clock } from '#shared/clock.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import { AnswerWatch } from './answer-watch.ts';
import { CallScope } from './call-scope.ts';
import type { ServerAnswer } from './driver-connection.ts';
import { MongoDbAvailability } from './mongodb-availability.ts';
import { type ClientOptions, clientFor, closeClient, databaseOf, ping } from './mongodb-client.ts';
import { awayError, isElection, isMongoDbAnswer, isOfClosedClient, namedFailure } from './mongodb-failure.ts';

const defaultTimeoutMs = 5000;
/** The time limit of a probe is the longer of this minimum and this share of the time limit of a call. */
const leastProbeTimeoutMs = 500;
const probePartOfTimeout = 0.1;
/**
 * A client is replaced if it gets no answer for the longer of this minimum and this multiple of the time that the
 * server takes to answer another. An outage lasts for the time in which a client shows it.
 */
const leastRecoveryMs = 250;
const silenceFactor = 3;
const recoveryFactor = 4;
/** Maximum number of replaced clients that are being closed. Further ones are replaced later. */
const maxClosing = 3;
const maxUpdates = 1000;
const maxFerretDbUpdates = 5;

export interface MongoDbClientOptions extends Omit<ClientOptions, 'stepMs' | 'onAnswer'> {
  /** `mongodb://…` or `mongodb+srv://…`. Its path names the database; default `switchyard`. */
  readonly url: string;
  /** Time limit of a whole call, including the search for the server. A function is called for each. Default 5 s. */
  readonly timeoutMs?: number | (() => number);
  /** The availability that all clients of the address share, and that outlives this one. Default: a separate one. */
  readonly availability?: MongoDbAvailability;
}

interface UsedClient {
  readonly client: MongoClient;
  readonly database: Db;
  readonly watch: AnswerWatch;
}

/**
 * A client of one database with a bounded pool of connections. It is replaced when an outage has broken it, and whenever
 * the server answers others and not this one: the driver (7.9) keeps a client closed whose first connection failed.
 */
export class ReconnectingClient {
  readonly #url: string;
  readonly #options: ClientOptions;
  readonly #limitMs: () => number;
  readonly #availability: MongoDbAvailability;
  readonly #leave: () => void | Promise<void>;
  #used: UsedClient;
  #maxUpdates: number | null = null;
  #closed = false;
  #checking: Promise<void> | null = null;
  #closing = 0;

  /** @throws StartupError for a malformed address, without secrets in the message */
  constructor({ url, availability, timeoutMs = defaultTimeoutMs, ...options }: MongoDbClientOptions) {
    this.#url = url;
    this.#options = options;
    this.#limitMs = typeof timeoutMs === 'function' ? timeoutMs : () => timeoutMs;
    const probeTimeoutMs = Math.max(leastProbeTimeoutMs, this.#limitMs() * probePartOfTimeout);
    this.#availability = availability ?? new MongoDbAvailability({ url, probeTimeoutMs });
    this.#used = this.#open();
    const leave = this.#availability.add({
      ensureUsable: (tookMs) => this.#ensureUsable(tookMs),
      serverAnswered: (tookMs) => this.#serverAnswered(tookMs),
    });
    this.#leave = availability === undefined ? () => this.#availability.close() : leave;
  }

  /**
   * Calls the database within the time limit, and only while the server is not known to be unavailable.
   * @throws UnavailableError in place of a temporary failure; other errors unchanged
   */
  async call<Result>(work: (database: Db) => Promise<Result>): Promise<Result> {
    if (this.#closed) throw mongoDbClosedError();
    const { state } = this.#availability;
    if (state.cause !== null) throw awayError(state.cause);
    const scope = new CallScope(this.#limitMs());
    try {
      return await state.failWhenUnavailable(this.#call(work, scope), (cause) => {
        throw awayError(cause);
      });
    } finally {
      scope.end();
    }
  }

  async #call<Result>(work: (database: Db) => Promise<Result>, scope: CallScope): Promise<Result> {
    const used = this.#used;
    used.watch.asked(scope.limitMs);
    try {
      const result = await within(
        scope.limitMs,
        scope.run(() => work(used.database)),
      );
      this.#availability.state.answered();
      this.#availability.elections.answered();
      return result;
    } catch (error) {
      // The client was closed during the call, or replaced by another.
      const isOver = this.#closed || used !== this.#used;
      if (isOver && error instanceof MongoError) throw mongoDbClosedError();
      const namedError = namedFailure(error, this.#availability.urlName);
      if (isOfClosedClient(error)) used.watch.closed();
      if (isElection(error)) this.#availability.elections.refused();
      if (isMongoDbAnswer(error)) this.#availability.state.answered();
      else if (!isOver && namedError instanceof UnavailableError) this.#availability.state.suspect();
      throw namedError;
    }
  }

  /**
   * Maximum updates of one command. FerretDB keeps a connection of its pool of 100 for each until the command ends, and
   * never answers when the pool is empty.
   * @throws UnavailableError
   */
  async maxUpdates(): Promise<number> {
    if (this.#maxUpdates === null) {
      const build = await this.call((database) => database.command({ buildInfo: 1 }));
      this.#maxUpdates = build.ferretdbVersion === undefined ? maxUpdates : maxFerretDbUpdates;
    }
    return this.#maxUpdates;
  }

  /** Ends running calls and closes every connection within 2 s. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([this.#leave(), closeClient(this.#used.client)]);
  }

  /** Replaces a client whose calls do not reach the server after an outage. */
  async #ensureUsable(tookMs: number): Promise<void> {
    const limitMs = Math.max(leastRecoveryMs, tookMs * recoveryFactor);
    await withTimeout(limitMs, this.#replaceUnlessAnswered(tookMs), undefined);
  }

  #serverAnswered(tookMs: number): void {
    if (!this.#used.watch.isSilent) return;
    this.#checking ??= this.#check(tookMs).finally(() => {
      this.#checking = null;
    });
  }

  async #check(tookMs: number): Promise<void> {
    const isReplaced = await this.#replaceUnlessAnswered(tookMs);
    if (isReplaced) this.#availability.clientReplaced();
  }

  /**
   * Replaces the client if the server answers none of its messages. A handshake that proceeds is enough to keep it.
   * @param tookMs how long the server takes to answer
   */
  async #replaceUnlessAnswered(tookMs: number): Promise<boolean> {
    const used = this.#used;
    const askedAt = clock.now();
    const reached = ping(used.client).then(() => true, isMongoDbAnswer);
    const isReached = await withTimeout(Math.max(leastRecoveryMs, tookMs * silenceFactor), reached, false);
    if (isReached || used.watch.hasAnsweredSince(askedAt)) return false;
    return used === this.#used && this.#replaceClient();
  }

  #replaceClient(): boolean {
    if (this.#closed || this.#closing >= maxClosing) return false;
    this.#closing += 1;
    const { client } = this.#used;
    void client
      .close()
      .catch(() => undefined)
      .finally(() => {
        this.#closing -= 1;
      });
    this.#used = this.#open();
    return true;
  }

  #open(): UsedClient {
    const watch = new AnswerWatch();
    const onAnswer = (answer: ServerAnswer) => {
      watch.answered();
      this.#availability.state.heard(answer);
    };
    const client = clientFor(this.#url, { ...this.#options, onAnswer });
    return { client, database: client.db(databaseOf(this.#url)), watch };
  }
}

export function mongoDbClosedError(): UnavailableError {
  return new UnavailableError('The connection to MongoDB is closed.');
}

/** It does not wait for late work. @throws UnavailableError after the time limit; what the work throws */
function within<Result>(milliseconds: number, work: Promise<Result>): Promise<Result> {
  return withTimeoutError(milliseconds, work, () => new UnavailableError('MongoDB does not answer in time.'));
}

const pauses = { firstMs: 20, maxMs: 1000 };
/** How long a call is repeated: a little longer than an election takes. */
const maxRepeatedMs = 12_000;

const never = new AbortController().signal;

/**
 * Makes a call until the server answers it, because a failed call may have been executed or not. Repeats it immediately
 * after the first failure, because most failures concern a single connection, and then with pauses.
 * @param call must be harmless when it is executed several times
 * @param signal ends the repetition. Default: it never ends early
 * @throws UnavailableError after 12 s, or when the signal has aborted; any other error of the call
 */
export async function repeatCall<Result>(call: () => Promise<Result>, signal: AbortSignal = never): Promise<Result> {
  const began = clock.now();
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      const isPassing = error instanceof UnavailableError && !(error instanceof PermanentlyUnavailableError);
      if (!isPassing || signal.aborted || clock.now() - began > maxRepeatedMs) throw error;
      if (failures > 0) await delay(backOffMs(failures, pauses, chance.random()), signal);
    }
  }
}
