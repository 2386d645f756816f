import type { LeaseTerm, TermId } from './lease-store.ts';

export interface LeaseLimits {
  /**
   * How often the holder asks to renew its term. It is a little shorter than the interval of rounds, so that each round
   * renews every term of the node.
   */
  readonly renewIntervalMs: number;
  /**
   * Minimum time between two rounds of a node. Five of them last a little longer than the shortest expiry: the fifth
   * look after the first one that saw the last renewal finds the term over. So on a fast store a dead holder is
   * replaced at most six rounds and a few calls of the store after its last renewal.
   */
  readonly lookIntervalMs: number;
}

export const defaultLeaseLimits: LeaseLimits = { renewIntervalMs: 280, lookIntervalMs: 300 };

/** Minimum time between two rounds while many of a node wait for answers. */
export const crowdedIntervalMs = 700;

/** A term as one node has observed it. */
export interface ObservedTerm extends LeaseTerm {
  /** True if its holder has released it, or not renewed it for the time of its expiry. It stays over. */
  readonly isOver: boolean;
}

export interface Renewal extends TermId {
  /** Minimum expiry that the renewal may write. The holder counts with this one before the answer. */
  readonly minExpiryMs: number;
  /** True if no renewal of the term was answered yet. Then it begins a round immediately, and a look decides. */
  readonly isFirst: boolean;
}

export interface Expiry {
  readonly expiryMs: number;
  /** The expiry that this node would write now: the minimum of the next renewal. */
  readonly nextMs: number;
}

/** The leases of one node. All threads of the node share its rounds of renewals and looks. */
export interface Leases {
  /** The time limit of a call, which follows how fast the store answers. */
  readonly callLimitMs: number;
  /**
   * Makes the node's next round look, and waits for it. It reads the newest terms of all leases.
   * @returns the terms by the names of their leases; a lease that no node has ever held is missing
   * @throws UnavailableError
   */
  look(): Promise<ReadonlyMap<string, ObservedTerm>>;
  /**
   * Begins a term. It counts only after its first renewal. After an error the term may have begun nevertheless; then no
   * node renews it.
   * @param token one more than that of the newest term
   * @returns null if another node was first
   * @throws UnavailableError
   */
  begin(name: string, token: number, holder: string): Promise<Expiry | null>;
  /**
   * Renews a term with the node's next round.
   * @returns null if another node has begun a newer term
   * @throws UnavailableError
   */
  renew(renewal: Renewal): Promise<Expiry | null>;
  /** Ends a term, after its running renewals. @throws UnavailableError */
  release(name: string, token: number): Promise<void>;
}
