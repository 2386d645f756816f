import { type MongoClient, MongoOperationTimeoutError } from 'mongodb';
import { Availability } from '#shared/availability/availability.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { clientFor, closeClient, ping } from './mongodb-client.ts';
import { causeOf, isOfServer } from './mongodb-failure.ts';

const defaultProbeTimeoutMs = 500;

export interface MongoDbAvailabilityOptions {
  /** As connections have it. */
  readonly url: string;
  /** What the operator calls the address: the variable that holds it. Default `its URL`. */
  readonly urlName?: string;
  /** A probe that takes longer counts as failed. Default 500 ms. */
  readonly probeTimeoutMs?: number;
  /** Gets a line when the server is found away, and one when it is found back. Default: nobody does. */
  readonly log?: Logger;
}

/** What holds connections that an outage may break. */
export interface ConnectionHolder {
  /**
   * Makes sure that calls reach the server, which answers again. Never throws.
   * @param tookMs how long the server's answer took
   */
  ensureUsable(tookMs: number): Promise<void>;
}

/**
 * Whether the MongoDB at an address can be used, for all connections of a thread to it: what one finds out, all know.
 * An outage counts as over when the calls of all of them reach the server again.
 */
export class MongoDbAvailability {
  readonly state: Availability;
  /** What the operator calls the address. */
  readonly urlName: string;
  readonly #url: string;
  readonly #holders = new Set<ConnectionHolder>();
  readonly #probers = new Set<Prober>();
  /** Of the last probe that was answered, for the next one: its connection is open. */
  #idleProber: Prober | null = null;

  constructor(options: MongoDbAvailabilityOptions) {
    const { url, urlName = 'its URL', probeTimeoutMs = defaultProbeTimeoutMs, log } = options;
    this.#url = url;
    this.urlName = urlName;
    this.state = new Availability({
      server: 'MongoDB',
      probeTimeoutMs,
      probe: (timeoutMs) => this.#probe(timeoutMs),
      repair: async (tookMs) => {
        await Promise.all([...this.#holders].map((holder) => holder.ensureUsable(tookMs)));
      },
      explain: async (failure) => causeOf(failure, urlName),
      isAnswer: isOfServer,
      timedOut: (waitedMs) => new MongoOperationTimeoutError(`No answer within ${waitedMs} ms`),
      ...(log !== undefined && { log }),
    });
  }

  /** Takes part until the returned function is called. */
  add(holder: ConnectionHolder): () => void {
    this.#holders.add(holder);
    return () => this.#holders.delete(holder);
  }

  /** Probes no more. */
  async close(): Promise<void> {
    const probing = this.state.close();
    await Promise.all([...this.#probers].map((prober) => this.#end(prober)));
    await probing;
  }

  async #probe(timeoutMs: number): Promise<void> {
    const prober = this.#idleProber ?? this.#newProber(timeoutMs);
    this.#idleProber = null;
    try {
      await Promise.race([ping(prober.client), prober.unreachable]);
    } catch (error) {
      // A client that fails to connect at first stays closed (driver 7.9.0), so the next probe makes a new one.
      void this.#end(prober);
      throw error;
    }
    if (this.#idleProber === null) this.#idleProber = prober;
    else void this.#end(prober);
  }

  /** Probes have clients of their own: those of the holders may be broken while the server is back. */
  #newProber(timeoutMs: number): Prober {
    const client = clientFor(this.#url, timeoutMs);
    const prober = { client, unreachable: unreachable(client) };
    this.#probers.add(prober);
    prober.unreachable.catch(() => this.#end(prober));
    return prober;
  }

  async #end(prober: Prober): Promise<void> {
    if (this.#idleProber === prober) this.#idleProber = null;
    if (this.#probers.delete(prober)) await closeClient(prober.client);
  }
}

/** A client for probes. */
interface Prober {
  readonly client: MongoClient;
  /** Rejects with the cause as soon as every host is known not to be reachable; a call waits until its time is up. */
  readonly unreachable: Promise<never>;
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
