import type { LeaseTerm } from './lease-store.ts';
import type { ObservedTerm } from './leases.ts';

/** A renewal of a term, and when this node first saw it. */
interface Sighting {
  readonly token: number;
  readonly renewals: number;
  readonly since: number;
}

/**
 * The newest term of each lease as this node saw it last. By its own clock it measures for how long a renewal is the last
 * one. A value: it is replaced with each read.
 */
export class Sightings {
  readonly sightings: ReadonlyMap<string, Sighting>;
  /** The time before the read from which they are. */
  readonly askedAt: number;

  constructor(sightings: ReadonlyMap<string, Sighting> = new Map(), askedAt: number = Number.NEGATIVE_INFINITY) {
    this.sightings = sightings;
    this.askedAt = askedAt;
  }

  /** The token of the newest term of a lease; 0 if this node has seen none. */
  tokenOf(name: string): number {
    return this.sightings.get(name)?.token ?? 0;
  }

  /**
   * Says which terms of a read are over.
   * @param askedAt the time before the read
   */
  judge(newest: ReadonlyMap<string, LeaseTerm>, askedAt: number): ReadonlyMap<string, ObservedTerm> {
    const isOver = (name: string, term: LeaseTerm) => {
      const sighting = this.sightings.get(name);
      return term.released || (sees(sighting, term) && askedAt - sighting.since >= term.expiryMs);
    };
    return new Map(Array.from(newest, ([name, term]) => [name, { ...term, isOver: isOver(name, term) }]));
  }

  /** Notes the terms of a read. */
  note(newest: ReadonlyMap<string, LeaseTerm>, askedAt: number, now: number): Sightings {
    // The answer to an older read comes late.
    if (askedAt < this.askedAt) return this;
    const noted = Array.from(newest, ([name, term]): [string, Sighting] => {
      const before = this.sightings.get(name);
      return [name, sees(before, term) ? before : { token: term.token, renewals: term.renewals, since: now }];
    });
    return new Sightings(new Map(noted), askedAt);
  }
}

function sees(sighting: Sighting | undefined, term: LeaseTerm): sighting is Sighting {
  return sighting?.token === term.token && sighting.renewals === term.renewals;
}
