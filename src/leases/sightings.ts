import type { LeaseTerm } from './lease-store.ts';
import type { ObservedTerm } from './leases.ts';

/** When this node first saw a renewal of a term. */
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
  readonly askedAt: number;

  constructor(sightings: ReadonlyMap<string, Sighting> = new Map(), askedAt: number = Number.NEGATIVE_INFINITY) {
    this.sightings = sightings;
    this.askedAt = askedAt;
  }

  /** The token that this node saw last; 0 if it has seen no term. */
  tokenOf(name: string): number {
    return this.sightings.get(name)?.token ?? 0;
  }

  /** Returns which terms of a read are over. @param askedAt the time before the read */
  judge(newest: ReadonlyMap<string, LeaseTerm>, askedAt: number): ReadonlyMap<string, ObservedTerm> {
    const isOver = (name: string, term: LeaseTerm) => {
      const sighting = this.sightings.get(name);
      return term.released || (sees(sighting, term) && askedAt - sighting.since >= term.expiryMs);
    };
    return new Map(Array.from(newest, ([name, term]) => [name, { ...term, isOver: isOver(name, term) }]));
  }

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
