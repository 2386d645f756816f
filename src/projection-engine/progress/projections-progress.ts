import type { ProjectionStatus } from '#read-store/read-store.ts';

export interface FollowingStatus {
  /** Every projection has seen the end of the log, or has stopped. */
  readonly live: boolean;
  /** For an operator: which node or thread runs them and in what state it is. */
  readonly detail: string;
}

/** Whichever thread or node runs the projections. `Positions` holds who waits for them. */
export interface ProjectionsProgress {
  /** As last published; positions are exact to a batch. */
  status(): ReadonlyArray<ProjectionStatus>;
  /** Called when anything in `status` but the positions changes. @returns a function that unsubscribes the listener */
  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void;
  following(): FollowingStatus;
}
