import { type MongoClient, MongoOperationTimeoutError } from 'mongodb';
import { Availability } from '#shared/availability/availability.ts';
import { clock, type Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { ThrottledLog } from '#shared/logging/throttled-log.ts';
import type { OnCommand } from './command-monitor.ts';
import type { ServerAnswer } from './driver-connection.ts';
import { clientFor, closeClient, ping } from './mongodb-client.ts';
import { isMongoDbAnswer, probeCauseOf } from './mongodb-failure.ts';

const defaultProbeTimeoutMs = 500;
/** How long a client for probes is kept after a probe. */
const keepProberMs = 30_000;
/** Minimum time between two log lines about replaced clients. */
const lineEveryMs = 60_000;
const maxProbers = 12;

export interface MongoDbAvailabilityOptions {
  readonly url: string;
  /** The variable that contains the address, for messages. Default `its URL`. */
  readonly urlName?: string;
  /** Minimum silence after which the server counts as unavailable. Default 500 ms. */
  readonly probeTimeoutMs?: number;
  /**
   * Gets a line when a client was replaced, when the server becomes unavailable, and when it recovers. Default: no log.
   */
  readonly log?: Logger;
  /** False if the availability of another thread logs them. Default true. */
  readonly logsOutages?: boolean;
  /** Receives each ended command of a probe. Default: nothing does. */
  readonly onCommand?: OnCommand;
  /** How long connections for probes are kept after a probe. Default 30 s. */
  readonly keepProberMs?: number;
}

export interface ConnectionHolder {
  /**
   * Makes sure that calls reach the server after an outage. Never throws.
   * @param tookMs the time until the server's answer
   */
  ensureUsable(tookMs: number): Promise<void>;
  /** The server has answered a ping. Never throws. @param tookMs the time until its answer */
  serverAnswered(tookMs: number): void;
}

/**
 * The availability that all connections of a thread to an address share. An outage is over when the calls of all of
 * them reach the server again.
 */
export class MongoDbAvailability {
  readonly state: Availability;
  readonly elections: ElectionLog;
  readonly urlName: string;
  readonly #url: string;
  readonly #onCommand: OnCommand | undefined;
  readonly #replacements: ThrottledLog;
  readonly #keepProberMs: number;
  readonly #holders = new Set<ConnectionHolder>();
  readonly #probers = new Set<Prober>();
  #idleProber: Prober | null = null;
  #endIdle: Timer | undefined;

  constructor(options: MongoDbAvailabilityOptions) {
    const { url, urlName = 'its URL', probeTimeoutMs = defaultProbeTimeoutMs, log, logsOutages = true } = options;
    const outageLog = logsOutages ? log : undefined;
    this.#url = url;
    this.#onCommand = options.onCommand;
    this.#replacements = new ThrottledLog((fields, message) => log?.warn(fields, message), lineEveryMs);
    this.#keepProberMs = options.keepProberMs ?? keepProberMs;
    this.urlName = urlName;
    this.elections = new ElectionLog(outageLog);
    this.state = new Availability({
      server: 'MongoDB',
      silentAfterMs: probeTimeoutMs,
      probe: (timeoutMs) => this.#probe(timeoutMs),
      repair: async (tookMs) => {
        await Promise.all([...this.#holders].map((holder) => holder.ensureUsable(tookMs)));
      },
      explain: async (failure) => probeCauseOf(failure, urlName),
      isAnswer: isMongoDbAnswer,
      timedOut: (waitedMs) => new MongoOperationTimeoutError(`No answer within ${waitedMs} ms`),
      ...(outageLog !== undefined && { log: outageLog }),
    });
  }

  /** @returns a function that removes the holder */
  add(holder: ConnectionHolder): () => void {
    this.#holders.add(holder);
    return () => this.#holders.delete(holder);
  }

  /** A holder has replaced a client that got no answers although the server gives some. */
  clientReplaced(): void {
    const message = 'A client of MongoDB got no answers and was replaced, because the server answers others';
    this.#replacements.write('replaced', {}, message);
  }

  async close(): Promise<void> {
    this.#replacements.close();
    const probing = this.state.close();
    await Promise.all([...this.#probers].map((prober) => this.#end(prober)));
    await probing;
  }

  async #probe(timeoutMs: number): Promise<void> {
    const prober = this.#takeIdle() ?? this.#newProber(timeoutMs);
    try {
      await Promise.race([ping(prober.client), prober.unreachable]);
    } catch (error) {
      // A client whose first connection fails stays closed (driver 7.9.0), so the next probe creates a new client.
      void this.#end(prober);
      throw error;
    }
    this.#keep(prober);
    for (const holder of this.#holders) holder.serverAnswered(prober.answerMs);
  }

  #takeIdle(): Prober | null {
    const prober = this.#idleProber;
    this.#idleProber = null;
    clock.clearTimeout(this.#endIdle);
    return prober;
  }

  /** Keeps the prober for the next probe. Without one, its connections are closed after a while. */
  #keep(prober: Prober): void {
    if (this.#idleProber !== null || !this.#probers.has(prober)) {
      void this.#end(prober);
      return;
    }
    this.#idleProber = prober;
    this.#endIdle = clock.setTimeout(() => void this.#end(prober), this.#keepProberMs).unref();
  }

  /**
   * Makes a prober with a client of its own, because the clients of the holders may be broken although the server has
   * recovered.
   */
  #newProber(timeoutMs: number): Prober {
    const [oldest] = this.#probers;
    if (oldest !== undefined && this.#probers.size >= maxProbers) void this.#end(oldest);
    const onAnswer = (answer: ServerAnswer) => {
      prober.answerMs = answer.tookMs;
      this.state.heard(answer);
    };
    const onCommand = this.#onCommand;
    const options = { stepMs: timeoutMs, maxPoolSize: 1, onAnswer, ...(onCommand !== undefined && { onCommand }) };
    const client = clientFor(this.#url, options);
    const prober: Prober = { client, unreachable: unreachable(client), answerMs: 0 };
    this.#probers.add(prober);
    prober.unreachable.catch(() => this.#end(prober));
    return prober;
  }

  async #end(prober: Prober): Promise<void> {
    if (this.#idleProber === prober) this.#takeIdle();
    if (this.#probers.delete(prober)) await closeClient(prober.client);
  }
}

interface Prober {
  readonly client: MongoClient;
  /** Rejects with the cause as soon as no host is reachable. A call itself would wait until its time limit. */
  readonly unreachable: Promise<never>;
  answerMs: number;
}

function unreachable(client: MongoClient): Promise<never> {
  return new Promise((_, reject) => {
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      const servers = [...newDescription.servers.values()];
      const error = servers.find((server) => server.error !== null)?.error;
      if (error && servers.every((server) => server.error !== null)) reject(error);
    });
  });
}

/** A shorter time without a primary is not an outage. */
const transientMs = 300;
/** The election is over when for this time no call was refused and one was answered. */
const quietMs = 500;

/**
 * Logs that a server answers and refuses calls, because its replica set has no primary just now: once when that begins,
 * and once when it ends. The availability does not notice it, because the server answers its probes.
 */
export class ElectionLog {
  readonly #log: Logger | undefined;
  #since: number | null = null;
  #refusedAt = 0;
  #isLogged = false;

  constructor(log: Logger | undefined) {
    this.#log = log;
  }

  refused(): void {
    this.#refusedAt = clock.now();
    this.#since ??= this.#refusedAt;
    if (this.#isLogged || this.#refusedAt - this.#since < transientMs) return;
    this.#isLogged = true;
    this.#log?.warn({}, 'MongoDB refuses calls, because it has no primary; they are repeated until it has one');
  }

  answered(): void {
    if (this.#since === null || clock.now() - this.#refusedAt < quietMs) return;
    this.#since = null;
    if (this.#isLogged) this.#log?.info({}, 'MongoDB has a primary again');
    this.#isLogged = false;
  }
}
