import type { ProjectionStatus } from '#read-store/read-store.ts';
import type { WaitOutcome } from './position-waiter.ts';

/** Whether the read models follow the log. */
export interface Following {
  /** Every projection has seen the end of the log, or has stopped. */
  readonly live: boolean;
  /** Who runs them, and how that stands; for an operator. */
  readonly detail: string;
}

/** How far the projections are, whichever thread or node runs them. */
export interface ProjectionsProgress {
  /**
   * Waits until queries see a position: until every projection that handles one of these event types and follows the
   * log has passed it. Those that have stopped or were never filled are not waited for, nor are any while nobody runs
   * them.
   */
  waitFor(position: number, types: ReadonlyArray<string>, timeoutMilliseconds: number): Promise<WaitOutcome>;
  /** Waits until the documents of these projections hold the log up to a position, whatever state they are in. */
  waitForProjections(names: ReadonlyArray<string>, position: number, timeoutMilliseconds: number): Promise<WaitOutcome>;
  /** As last told, positions to the batch. */
  status(): ReadonlyArray<ProjectionStatus>;
  /** Calls the listener at every change of `status` but positions alone. @returns ends it */
  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void;
  following(): Following;
}
