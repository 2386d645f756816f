import { type MongoClient, MongoOperationTimeoutError } from 'mongodb';
import { Availability } from '#shared/async/availability.ts';
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
  /** Makes sure that calls reach the server, which answers again. Never throws. */
  ensureUsable(): Promise<void>;
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
  readonly #probeTimeoutMs: number;
  readonly #holders = new Set<ConnectionHolder>();
  /** Probes on a connection of its own: those of the holders may be broken while the server is back. */
  #prober: MongoClient | null = null;

  constructor(options: MongoDbAvailabilityOptions) {
    const { url, urlName = 'its URL', probeTimeoutMs = defaultProbeTimeoutMs, log } = options;
    this.#url = url;
    this.#probeTimeoutMs = probeTimeoutMs;
    this.urlName = urlName;
    this.state = new Availability({
      server: 'MongoDB',
      probeTimeoutMs,
      probe: () => this.#probe(),
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
    await Promise.all([this.state.close(), this.#endProber()]);
    await this.#endProber();
  }

  async #probe(): Promise<void> {
    // A client that fails to connect at first stays closed (driver 7.9.0), so each probe makes a new one.
    void this.#endProber();
    const prober = clientFor(this.#url, this.#probeTimeoutMs);
    this.#prober = prober;
    await ping(prober);
    if (this.state.cause !== null) await Promise.all([...this.#holders].map((holder) => holder.ensureUsable()));
    if (this.#prober === prober) void this.#endProber();
  }

  async #endProber(): Promise<void> {
    const prober = this.#prober;
    this.#prober = null;
    if (prober !== null) await closeClient(prober);
  }
}
