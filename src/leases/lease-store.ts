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

/** Names a term. */
export interface TermId {
  /** The name of the lease. */
  readonly name: string;
  readonly token: number;
}

/**
 * Stores leases, by which nodes agree on the one that does a piece of work. The store knows no time: each node
 * measures by its own clock how long a term was not renewed. Only `NodeLeases` uses it.
 */
export interface LeaseStore {
  /** Reads the newest term of every lease, by the lease's name. @throws UnavailableError */
  newestOfAll(): Promise<ReadonlyMap<string, LeaseTerm>>;
  /**
   * Begins a term, and removes the older ones of the lease. After an error the term may have begun nevertheless, next to
   * an older one; then no node renews it.
   * @param token one more than that of the newest term
   * @returns false if another node was first
   * @throws UnavailableError
   */
  begin(name: string, token: number, holder: string): Promise<boolean>;
  /**
   * Renews terms. It leaves out those that were removed. Only their holder may call this.
   * @returns how many it has renewed. If these are all, no node had begun a newer term of any of them before the call.
   * @throws UnavailableError
   */
  renewAll(terms: ReadonlyArray<TermId>): Promise<number>;
  /**
   * Ends a term, if it is still the newest. Only its holder may call this.
   * @throws UnavailableError
   */
  release(name: string, token: number): Promise<void>;
  close(): Promise<void>;
}
