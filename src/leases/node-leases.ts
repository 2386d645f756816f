import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type Clock, monotonicClock } from './clock.ts';
import type { LeaseStore, LeaseTerm, TermId } from './lease-store.ts';
import { defaultLeaseLimits, type LeaseLimits, type Leases, type ObservedTerm } from './leases.ts';

export interface NodeLeasesOptions {
  readonly store: LeaseStore;
  /** Default: those of `defaultLeaseLimits`. */
  readonly limits?: Partial<LeaseLimits>;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

/** What a round has found. */
interface Found {
  /** Whether it has looked. If not, all its terms were renewed, so that none is newer. */
  readonly hasLooked: boolean;
  /** The newest terms by the names of their leases; empty if it has not looked. */
  readonly newest: ReadonlyMap<string, ObservedTerm>;
}

/** A renewal of terms and a look, or one of them, which several callers wait for. */
interface Round {
  /** By name and token. */
  readonly renewals: Map<string, TermId>;
  /** Whether a caller waits for a look. */
  isLookWanted: boolean;
  readonly found: PromiseWithResolvers<Found>;
}

/** A term of any node, and when this node first saw it. */
interface Sighting {
  readonly token: number;
  readonly renewals: number;
  readonly since: number;
}

/**
 * A holder looks after this time without a look. A node that dies while it begins a term may leave the older one next to
 * it, and renewals alone do not tell the holder of the older one, if that is a node that was suspended.
 */
const maxBlindMs = 30_000;

/**
 * The leases of one node. It asks the store in rounds. One command renews all terms of the node. One read shows the
 * newest terms of all leases to everything that waits for a look; a round does it only for such callers, or if a term
 * could not be renewed. Two rounds begin at least the look interval apart, and none begins while no caller waits. A round
 * that gets no answer does not delay the next one.
 */
export class NodeLeases implements Leases {
  readonly #store: LeaseStore;
  readonly #limits: LeaseLimits;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  #next: Round | null = null;
  readonly #running = new Set<Round>();
  #beganAt = Number.NEGATIVE_INFINITY;
  #sightings: ReadonlyMap<string, Sighting> = new Map();
  /** When the read began from which the sightings are. */
  #sightingsAskedAt = Number.NEGATIVE_INFINITY;

  constructor({ store, limits, clock = monotonicClock }: NodeLeasesOptions) {
    this.#store = store;
    this.#limits = { ...defaultLeaseLimits, ...limits };
    this.#clock = clock;
  }

  async look(): Promise<ReadonlyMap<string, ObservedTerm>> {
    const round = this.#nextRound();
    round.isLookWanted = true;
    return (await round.found.promise).newest;
  }

  begin(name: string, token: number, holder: string): Promise<boolean> {
    return this.#store.begin(name, token, holder);
  }

  async renew(name: string, token: number): Promise<boolean> {
    const round = this.#nextRound();
    round.renewals.set(idOf(name, token), { name, token });
    const { hasLooked, newest } = await round.found.promise;
    return !hasLooked || newest.get(name)?.token === token;
  }

  async release(name: string, token: number): Promise<void> {
    const id = idOf(name, token);
    this.#next?.renewals.delete(id);
    // Two writes of one document at once may undo each other.
    const renewing = [...this.#running].filter(({ renewals }) => renewals.has(id));
    await Promise.allSettled(renewing.map(({ found }) => found.promise));
    await this.#store.release(name, token);
  }

  /** Ends every wait with an error, and closes the store. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#store.close();
  }

  #nextRound(): Round {
    if (this.#next !== null) return this.#next;
    const round: Round = { renewals: new Map(), isLookWanted: false, found: Promise.withResolvers() };
    this.#next = round;
    void this.#play(round);
    return round;
  }

  async #play(round: Round): Promise<void> {
    const waitMs = this.#beganAt + this.#limits.lookIntervalMs - this.#clock.now();
    await this.#clock.pause(Math.max(0, waitMs), this.#closed.signal);
    this.#next = null;
    this.#beganAt = this.#clock.now();
    this.#running.add(round);
    try {
      round.found.resolve(await this.#ask(round));
    } catch (error) {
      round.found.reject(error);
    } finally {
      this.#running.delete(round);
    }
  }

  async #ask({ renewals, isLookWanted }: Round): Promise<Found> {
    if (this.#closed.signal.aborted) throw new UnavailableError('The leases of this node are closed.');
    const areAllRenewed = renewals.size === 0 || (await this.#store.renewAll([...renewals.values()])) === renewals.size;
    const isBlind = this.#clock.now() - this.#sightingsAskedAt >= maxBlindMs;
    const hasLooked = isLookWanted || isBlind || !areAllRenewed;
    return { hasLooked, newest: hasLooked ? await this.#read() : new Map() };
  }

  async #read(): Promise<ReadonlyMap<string, ObservedTerm>> {
    const askedAt = this.#clock.now();
    const newest = await this.#store.newestOfAll();
    const observed = new Map(Array.from(newest, ([name, term]) => [name, this.#observe(name, term, askedAt)]));
    this.#keepSightings(newest, askedAt);
    return observed;
  }

  /** @param askedAt the time before the term was read */
  #observe(name: string, term: LeaseTerm, askedAt: number): ObservedTerm {
    const sighting = this.#sightings.get(name);
    const isSilent = sees(sighting, term) && askedAt - sighting.since >= this.#limits.expireAfterMs;
    return { ...term, isOver: term.released || isSilent };
  }

  #keepSightings(newest: ReadonlyMap<string, LeaseTerm>, askedAt: number): void {
    // The answer to an older read came late.
    if (askedAt < this.#sightingsAskedAt) return;
    this.#sightingsAskedAt = askedAt;
    const since = this.#clock.now();
    this.#sightings = new Map(
      Array.from(newest, ([name, term]) => {
        const before = this.#sightings.get(name);
        return [name, sees(before, term) ? before : { token: term.token, renewals: term.renewals, since }];
      }),
    );
  }
}

function sees(sighting: Sighting | undefined, term: LeaseTerm): sighting is Sighting {
  return sighting?.token === term.token && sighting.renewals === term.renewals;
}

function idOf(name: string, token: number): string {
  return `${name}#${token}`;
}
