import type { ProjectionStatus } from '#read-store/read-store.ts';

export interface FollowingStatus {
  /** True if every projection has seen the end of the log, or has stopped. */
  readonly live: boolean;
  /** A text for an operator: which node or thread runs them and in what state it is. */
  readonly detail: string;
}

/** The progress of the projections, whichever thread or node runs them. `Positions` holds who waits for them. */
export interface ProjectionsProgress {
  /** The statuses as last published; positions are exact to a batch. */
  status(): ReadonlyArray<ProjectionStatus>;
  /** Called when anything in `status` but the positions changes. @returns a function that unsubscribes the listener */
  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void;
  following(): FollowingStatus;
}
