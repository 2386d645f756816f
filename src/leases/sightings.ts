import type { LeaseTerm } from './lease-store.ts';
import type { ObservedTerm } from './leases.ts';

/** A renewal of a term, and when this node first saw it. */
interface Sighting {
  readonly token: number;
  readonly renewals: number;
  readonly since: number;
}

/** The newest term of each lease as this node saw it last. It measures by its own clock how long a renewal is the last. */
export class Sightings {
  #sightings: ReadonlyMap<string, Sighting> = new Map();
  #askedAt = Number.NEGATIVE_INFINITY;

  /** When the read began from which they are. */
  get askedAt(): number {
    return this.#askedAt;
  }

  /** The token of the newest term of a lease; 0 if this node has seen none. */
  tokenOf(name: string): number {
    return this.#sightings.get(name)?.token ?? 0;
  }

  /**
   * Notes the terms of a read, and says which of them are over.
   * @param askedAt the time before they were read
   * @param now the time after that
   */
  observe(newest: ReadonlyMap<string, LeaseTerm>, askedAt: number, now: number): ReadonlyMap<string, ObservedTerm> {
    const observed = new Map(Array.from(newest, ([name, term]) => [name, this.#observe(name, term, askedAt)]));
    // The answer to an older read may come late.
    if (askedAt >= this.#askedAt) this.#keep(newest, askedAt, now);
    return observed;
  }

  #observe(name: string, term: LeaseTerm, askedAt: number): ObservedTerm {
    const sighting = this.#sightings.get(name);
    const isSilent = sees(sighting, term) && askedAt - sighting.since >= term.expiryMs;
    return { ...term, isOver: term.released || isSilent };
  }

  #keep(newest: ReadonlyMap<string, LeaseTerm>, askedAt: number, now: number): void {
    this.#askedAt = askedAt;
    this.#sightings = new Map(
      Array.from(newest, ([name, term]) => {
        const before = this.#sightings.get(name);
        return [name, sees(before, term) ? before : { token: term.token, renewals: term.renewals, since: now }];
      }),
    );
  }
}

function sees(sighting: Sighting | undefined, term: LeaseTerm): sighting is Sighting {
  return sighting?.token === term.token && sighting.renewals === term.renewals;
}
