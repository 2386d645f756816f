import type { ProjectionStatus } from '#read-store/read-store.ts';
import type { WaitOutcome } from './position-waiter.ts';

/** Whether the read models follow the log. */
export interface FollowingStatus {
  /** Every projection has seen the end of the log, or has stopped. */
  readonly live: boolean;
  /** Which node or thread runs them and in what state it is; for an operator. */
  readonly detail: string;
}

/** How far the projections have read the log, whichever thread or node runs them. */
export interface ProjectionsProgress {
  /**
   * Waits until queries see a position: until every projection that handles one of these event types and follows the
   * log has passed it. It does not wait for a projection that has stopped or was never filled, nor for any while no
   * node runs them.
   */
  waitFor(position: number, types: ReadonlyArray<string>, timeoutMs: number): Promise<WaitOutcome>;
  /** Waits until the documents of these projections hold the log up to a position, whatever state they are in. */
  waitForProjections(names: ReadonlyArray<string>, position: number, timeoutMs: number): Promise<WaitOutcome>;
  /** The status as last published; positions are exact to a batch. */
  status(): ReadonlyArray<ProjectionStatus>;
  /**
   * Calls the listener when anything in `status` but the positions changes.
   * @returns a function that unsubscribes it
   */
  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void;
  following(): FollowingStatus;
}
