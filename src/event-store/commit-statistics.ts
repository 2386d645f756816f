/** The figures of one commit, for metrics. */
export interface CommitStatistics {
  /** More than one if a store commits several waiting appends together. */
  readonly appends: number;
  readonly events: number;
  /**
   * The time until the store has answered: from the beginning of an embedded store's transaction, or from the call to a
   * server.
   */
  readonly milliseconds: number;
}
