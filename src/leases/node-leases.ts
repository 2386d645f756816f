import { delay, withTimeout, withTimeoutError } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { LeaseStore } from './lease-store.ts';
import {
  crowdedIntervalMs,
  defaultLeaseLimits,
  type Expiry,
  type LeaseLimits,
  type Leases,
  type ObservedTerm,
  type Renewal,
} from './leases.ts';
import { RoundTimes } from './round-times.ts';
import { Sightings } from './sightings.ts';

export interface NodeLeasesOptions {
  readonly store: LeaseStore;
  /** Default: a separate one. */
  readonly times?: RoundTimes;
  /** Default: those of `defaultLeaseLimits`. */
  readonly limits?: Partial<LeaseLimits>;
}

/** Terms by the names of the leases. */
type Terms = ReadonlyMap<string, ObservedTerm>;

interface Renewed {
  readonly number: number;
  readonly expiryMs: number;
  /** What was found after the renewals; null if all were renewed. */
  readonly newest: Terms | null;
}

/** A renewal of terms and a look, or one of them, which several callers wait for. */
interface Round {
  /** The renewals by name and token. */
  readonly renewals: Map<string, Renewal>;
  isLookWanted: boolean;
  readonly hurried: AbortController;
  readonly renewed: PromiseWithResolvers<Renewed>;
  readonly seen: PromiseWithResolvers<Terms>;
}

/**
 * A holder looks after this time without a look. The older term next to a newer one may not be removed, and renewals
 * alone do not tell its holder, if that is a node that was suspended.
 */
const maxBlindMs = 30_000;

/** A look that is not answered after this time may be lost, so another one is sent next to it. */
const patienceMs = 1_000;
/** While this many rounds wait for answers, others begin less often. */
const maxRunning = 8;

/**
 * The leases of one node. It asks the store in rounds. One command renews all terms of the node. One read shows the
 * newest terms of all leases to everything that waits for a look; a round does it only for such callers, or if a term
 * could not be renewed. Two rounds begin at least the look interval apart, except for the first renewal of a term, and
 * none begins while no caller waits. A round that gets no answer does not delay the next one.
 */
export class NodeLeases implements Leases {
  readonly #store: LeaseStore;
  readonly #times: RoundTimes;
  readonly #limits: LeaseLimits;
  readonly #running = new Set<Round>();
  #sightings = new Sightings();
  #next: Round | null = null;
  #beganAt = Number.NEGATIVE_INFINITY;
  #number = 0;
  #isClosed = false;

  constructor({ store, times = new RoundTimes(), limits }: NodeLeasesOptions) {
    this.#store = store;
    this.#times = times;
    this.#limits = { ...defaultLeaseLimits, ...limits };
  }

  get callLimitMs(): number {
    return this.#times.callLimitMs;
  }

  async look(): Promise<Terms> {
    const first = this.#nextLook();
    const answers = [first];
    for (;;) {
      const terms = await withTimeout(patienceMs, Promise.race(answers), null);
      if (terms !== null) return terms;
      answers.push(answered(this.#nextLook()));
    }
  }

  async begin(name: string, token: number, holder: string): Promise<Expiry | null> {
    const expiryMs = this.#times.firstExpiryMs;
    const isFirst = await this.#timed(() => this.#store.begin(name, token, holder, expiryMs));
    return isFirst ? { expiryMs, nextMs: expiryMs } : null;
  }

  async renew(renewal: Renewal): Promise<Expiry | null> {
    const { name, token, isFirst } = renewal;
    const round = this.#nextRound();
    round.renewals.set(idOf(name, token), renewal);
    if (isFirst) {
      round.isLookWanted = true;
      round.hurried.abort();
    }
    const seeing = isFirst ? round.seen.promise : null;
    const [{ number, expiryMs, newest }, seen] = await Promise.all([round.renewed.promise, seeing]);
    const found = newest ?? seen;
    const isSuperseded = this.#sightings.tokenOf(name) > token || (found !== null && found.get(name)?.token !== token);
    if (isSuperseded) return null;
    if (newest !== null && (newest.get(name)?.renewals ?? 0) < number)
      throw new UnavailableError('A renewal was not stored.');
    return { expiryMs, nextMs: this.#times.expiryMs };
  }

  async release(name: string, token: number): Promise<void> {
    const id = idOf(name, token);
    this.#next?.renewals.delete(id);
    // On FerretDB two writes of one document at the same time may undo each other.
    const renewing = [...this.#running].filter(({ renewals }) => renewals.has(id));
    await Promise.allSettled(renewing.map(({ renewed }) => renewed.promise));
    await inTime(this.#times.callLimitMs, this.#store.release(name, token));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.hurried.abort();
    await this.#store.close();
  }

  get #intervalMs(): number {
    return this.#running.size < maxRunning ? this.#limits.lookIntervalMs : crowdedIntervalMs;
  }

  #nextLook(): Promise<Terms> {
    const round = this.#nextRound();
    round.isLookWanted = true;
    return round.seen.promise;
  }

  #nextRound(): Round {
    if (this.#next !== null) return this.#next;
    const round = newRound();
    this.#next = round;
    void this.#play(round);
    return round;
  }

  async #play(round: Round): Promise<void> {
    await delay(this.#beganAt + this.#intervalMs - clock.now(), round.hurried.signal);
    this.#next = null;
    this.#beganAt = clock.now();
    this.#running.add(round);
    const isBlind = this.#beganAt - this.#sightings.askedAt >= maxBlindMs;
    round.renewed.resolve(this.#renewAll(round));
    if (round.isLookWanted || isBlind) round.seen.resolve(this.#read());
    await Promise.allSettled([round.renewed.promise, round.isLookWanted ? round.seen.promise : null]);
    this.#running.delete(round);
  }

  async #renewAll({ renewals }: Round): Promise<Renewed> {
    this.#number += 1;
    const number = this.#number;
    const wanted = [...renewals.values()];
    const expiryMs = Math.max(this.#times.expiryMs, ...wanted.map(({ minExpiryMs }) => minExpiryMs));
    const areAll =
      wanted.length === 0 ||
      (await this.#timed(() => this.#store.renewAll(wanted, { number, expiryMs }))) === wanted.length;
    return { number, expiryMs, newest: areAll ? null : await this.#read() };
  }

  async #read(): Promise<Terms> {
    const askedAt = clock.now();
    const newest = await this.#timed(() => this.#store.newestOfAll());
    const judged = this.#sightings.judge(newest, askedAt);
    this.#sightings = this.#sightings.note(newest, askedAt, clock.now());
    return judged;
  }

  async #timed<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new UnavailableError('The leases of this node are closed.');
    const limitMs = this.#times.callLimitMs;
    const beganAt = clock.now();
    const tookMs = () => Math.min(limitMs, clock.now() - beganAt);
    try {
      const result = await inTime(limitMs, call());
      this.#times.add(tookMs());
      return result;
    } catch (error) {
      this.#times.addFailure(tookMs());
      throw error;
    }
  }
}

function newRound(): Round {
  const round = {
    renewals: new Map(),
    isLookWanted: false,
    hurried: new AbortController(),
    renewed: Promise.withResolvers<Renewed>(),
    seen: Promise.withResolvers<Terms>(),
  };
  // A failure counts only for those who wait.
  for (const { promise } of [round.renewed, round.seen]) promise.catch(() => undefined);
  return round;
}

/** Waits for a look, and not for its failure. */
function answered(look: Promise<Terms>): Promise<Terms> {
  return look.catch(() => new Promise<never>(() => undefined));
}

function inTime<Result>(limitMs: number, call: Promise<Result>): Promise<Result> {
  return withTimeoutError(limitMs, call, () => new UnavailableError('The store of leases does not answer in time.'));
}

function idOf(name: string, token: number): string {
  return `${name}#${token}`;
}
