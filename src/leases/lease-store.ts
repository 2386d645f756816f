/** One holder's time with a lease. The newest term is the one that counts. */
export interface LeaseTerm {
  /** Counts up with every term of a lease, from 1: the fencing token of all that its holder writes. */
  readonly token: number;
  /** Who began it. */
  readonly holder: string;
  /** How often its holder has said that it lives. */
  readonly renewals: number;
  /** Its holder needs it no more: the next may begin at once. */
  readonly released: boolean;
}

/**
 * Where nodes agree on which one does a piece of work that only one may do. The store knows no time: each node measures
 * by its own clock how long a term has not been renewed.
 */
export interface LeaseStore {
  /** The newest term of a lease; null when there was never one. @throws UnavailableError */
  newest(name: string): Promise<LeaseTerm | null>;
  /**
   * Begins a term. When it rejects, the term may have begun all the same; nobody renews it then.
   * @param token one more than the newest term's
   * @returns false when somebody else was first
   * @throws UnavailableError
   */
  begin(name: string, token: number, holder: string): Promise<boolean>;
  /**
   * Says that the holder of a term lives.
   * @returns false when it is not the newest any more
   * @throws UnavailableError
   */
  renew(name: string, token: number): Promise<boolean>;
  /** Ends a term, if it is still the newest; its holder alone may. @throws UnavailableError */
  release(name: string, token: number): Promise<void>;
  close(): Promise<void>;
}
