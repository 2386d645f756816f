import type { LeaseTerm } from './lease-store.ts';

/** The times of a lease. */
export interface LeaseLimits {
  /**
   * How often the holder renews its term. It is a little shorter than the interval of looks, because a renewal joins the
   * next look.
   */
  readonly renewIntervalMs: number;
  /** After this time without a renewal a term is over. */
  readonly expireAfterMs: number;
  /**
   * The shortest time between two looks of a node. Six of them last a little longer than the expiry, so that the sixth
   * look after the last renewal finds the term over.
   */
  readonly lookIntervalMs: number;
}

export const defaultLeaseLimits: LeaseLimits = { renewIntervalMs: 250, expireAfterMs: 1500, lookIntervalMs: 260 };

/** The newest term of a lease, as one node has observed it. */
export interface ObservedTerm extends LeaseTerm {
  /** Whether its holder has released it, or has not renewed it for the time of its expiry. It stays over. */
  readonly isOver: boolean;
}

/** The leases as one node sees them. All threads of the node share its looks and renewals. */
export interface Leases {
  /**
   * Waits for the node's next look, which reads the newest terms of all leases.
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
   * Renews a term with the node's next look.
   * @returns false if it is not the newest any more
   * @throws UnavailableError
   */
  renew(name: string, token: number): Promise<boolean>;
  /** Ends a term, if it is still the newest, after its running renewals. @throws UnavailableError */
  release(name: string, token: number): Promise<void>;
}
