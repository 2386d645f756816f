import type { LeaseTerm } from './lease-store.ts';

/** The times of a lease. */
export interface LeaseLimits {
  /**
   * How often the holder asks to renew its term. It is a little shorter than the interval of rounds, so that each round
   * renews every term of the node.
   */
  readonly renewIntervalMs: number;
  /** After this time without a renewal a term is over. */
  readonly expireAfterMs: number;
  /**
   * The shortest time between two rounds of a node. Five of them last a little longer than the expiry: the fifth look
   * after the first one that saw the last renewal finds the term over. So a dead holder is replaced at most six rounds
   * and a few calls of the store after its last renewal.
   */
  readonly lookIntervalMs: number;
}

export const defaultLeaseLimits: LeaseLimits = { renewIntervalMs: 280, expireAfterMs: 1400, lookIntervalMs: 300 };

/** The newest term of a lease, as one node has observed it. */
export interface ObservedTerm extends LeaseTerm {
  /** Whether its holder has released it, or has not renewed it for the time of its expiry. It stays over. */
  readonly isOver: boolean;
}

/** The leases as one node sees them. All threads of the node share its rounds of renewals and looks. */
export interface Leases {
  /**
   * Makes the node's next round look, and waits for it. It reads the newest terms of all leases.
   * @returns the terms by the names of their leases; a lease that no node has ever held is missing
   * @throws UnavailableError
   */
  look(): Promise<ReadonlyMap<string, ObservedTerm>>;
  /**
   * Begins a term. After an error the term may have begun nevertheless; then no node renews it.
   * @param token one more than that of the newest term
   * @returns false if another node was first
   * @throws UnavailableError
   */
  begin(name: string, token: number, holder: string): Promise<boolean>;
  /**
   * Renews a term with the node's next round.
   * @returns false if another node has begun a newer term
   * @throws UnavailableError
   */
  renew(name: string, token: number): Promise<boolean>;
  /** Ends a term, if it is still the newest, after its running renewals. @throws UnavailableError */
  release(name: string, token: number): Promise<void>;
}
