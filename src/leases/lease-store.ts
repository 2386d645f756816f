/** The time for which one node holds a lease. Only the newest term counts. */
export interface LeaseTerm {
  /** The number of the term, from 1. It is the fencing token of everything that its holder writes. */
  readonly token: number;
  readonly holder: string;
  /** 0 at the beginning of the term. */
  readonly renewals: number;
  readonly expiryMs: number;
  /** Whether the holder has released it, so that the next term may begin immediately. */
  readonly released: boolean;
}

export interface TermId {
  readonly name: string;
  readonly token: number;
}

export interface RoundWrite {
  /** Each round of a node has a larger one. */
  readonly number: number;
  readonly expiryMs: number;
}

/**
 * Stores leases, by which nodes agree on the one that does a piece of work. The store knows no time: each node
 * measures by its own clock how long a term was not renewed. Only `NodeLeases` uses it.
 */
export interface LeaseStore {
  /** The newest terms by the name of the lease. @throws UnavailableError */
  newestOfAll(): Promise<ReadonlyMap<string, LeaseTerm>>;
  /**
   * Begins a term, and removes the older ones of the lease later. After an error the term may have begun nevertheless;
   * then no node renews it. A node that was suspended may begin a term that was removed long ago, so a look after this
   * call decides whether the term counts.
   * @param token one more than that of the newest term
   * @param expiryMs for how long it lasts without a renewal
   * @returns false if another node was first
   * @throws UnavailableError
   */
  begin(name: string, token: number, holder: string, expiryMs: number): Promise<boolean>;
  /**
   * Writes a round into terms that have no later one. Only their holder may call this.
   * @returns how many it has renewed. If these are all, no older term was removed before the call.
   * @throws UnavailableError
   */
  renewAll(terms: ReadonlyArray<TermId>, round: RoundWrite): Promise<number>;
  /** Ends a term. Only its holder may call this. @throws UnavailableError */
  release(name: string, token: number): Promise<void>;
  close(): Promise<void>;
}
