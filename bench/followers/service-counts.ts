/** How often a thread of the service has run a statement that reads the event file. */
export interface StatementCount {
  readonly thread: string;
  readonly sql: string;
  readonly count: number;
}

/** What was counted in the service since its start. */
export interface ServiceCounts {
  readonly statements: ReadonlyArray<StatementCount>;
  /** Processor time in microseconds. */
  readonly mainThreadUs: number;
  readonly allThreadsUs: number;
}

/** What one append costs while no follower has work, and how long it takes. */
export interface IdleAppends {
  readonly mainThreadUs: number;
  readonly ms: number;
}

/** Returns the counts between two moments. */
export function countsBetween(before: ServiceCounts, after: ServiceCounts): ServiceCounts {
  const earlier = new Map(before.statements.map(({ thread, sql, count }) => [`${thread} ${sql}`, count]));
  return {
    statements: after.statements.map((statement) => ({
      ...statement,
      count: statement.count - (earlier.get(`${statement.thread} ${statement.sql}`) ?? 0),
    })),
    mainThreadUs: after.mainThreadUs - before.mainThreadUs,
    allThreadsUs: after.allThreadsUs - before.allThreadsUs,
  };
}
