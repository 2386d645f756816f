/** What one commit did, for metrics. */
export interface CommitStatistics {
  /** More than one where a store commits what waits together. */
  readonly appends: number;
  readonly events: number;
  /** Until the store has answered: from the begin of an embedded store's transaction, or from the call to a server. */
  readonly milliseconds: number;
}
