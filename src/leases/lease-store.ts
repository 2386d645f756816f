/** The time for which one node holds a lease. Only the newest term counts. */
export interface LeaseTerm {
  /** The number of the term, from 1. It is the fencing token of everything that its holder writes. */
  readonly token: number;
  /** The node that has begun the term. */
  readonly holder: string;
  /** How often the holder has renewed the term. */
  readonly renewals: number;
  /** Whether the holder has released it, so that the next term may begin at once. */
  readonly released: boolean;
}

/**
 * Stores leases, by which nodes agree on the one that does a piece of work. The store knows no time: each node
 * measures by its own clock how long a term was not renewed.
 */
export interface LeaseStore {
  /** Reads the newest term of a lease; null if there was never one. @throws UnavailableError */
  newest(name: string): Promise<LeaseTerm | null>;
  /**
   * Begins a term. After an error the term may have begun nevertheless; then no node renews it.
   * @param token one more than that of the newest term
   * @returns false if another node was first
   * @throws UnavailableError
   */
  begin(name: string, token: number, holder: string): Promise<boolean>;
  /**
   * Renews a term.
   * @returns false if it is not the newest any more
   * @throws UnavailableError
   */
  renew(name: string, token: number): Promise<boolean>;
  /** Ends a term, if it is still the newest. Only its holder may call this. @throws UnavailableError */
  release(name: string, token: number): Promise<void>;
  close(): Promise<void>;
}
