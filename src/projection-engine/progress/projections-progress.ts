import type { ProjectionStatus } from '#read-store/read-store.ts';

/** Whether the read models follow the log. */
export interface FollowingStatus {
  /** Every projection has seen the end of the log, or has stopped. */
  readonly live: boolean;
  /** Which node or thread runs them and in what state it is; for an operator. */
  readonly detail: string;
}

/** The state of the projections, whichever thread or node runs them. `Positions` holds who waits for them. */
export interface ProjectionsProgress {
  /** The status as last published; positions are exact to a batch. */
  status(): ReadonlyArray<ProjectionStatus>;
  /**
   * Calls the listener when anything in `status` but the positions changes.
   * @returns a function that unsubscribes it
   */
  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void;
  following(): FollowingStatus;
}
