import type { EventBatch, RecordedEvent } from './event-store.ts';

/** One follower of the log. */
export interface FollowOptions {
  /** The follower's name, for log lines: "the process detach-phone-numbers". */
  readonly name: string;
  /** The position after which it begins, and continues after a failure; null to end. */
  readonly after: () => number | null | Promise<number | null>;
  /** Only events of these types; all if absent. */
  readonly types?: ReadonlyArray<string>;
  /** The most events of a batch. Default 1,000. */
  readonly maxEvents?: number;
  /**
   * Handles the next events; the follower gets no others until it resolves. The first batch at the end of the log may
   * be empty. Afterwards it is called only when there are events of its types.
   */
  readonly handle: (batch: EventBatch) => void | Promise<void>;
  /**
   * Called for a failure of `after` or `handle`, before it is retried. What it throws ends the follower. Default: one
   * `error` line.
   */
  readonly onError?: (error: unknown, retryDelayMs: number) => void;
  /** Ends the follower. */
  readonly signal: AbortSignal;
}

/** A follower that runs. */
export interface Following {
  /** The position up to which it has handled the log. While it waits for events, this is the end that was read. */
  readonly position: number;
  /** Whether it has handled everything that was stored when it began. */
  readonly isCaughtUp: boolean;
  /** Resolves when the follower has ended; rejects with what `onError` threw. */
  readonly ended: Promise<void>;
  /** Waits until it has passed a position. @returns false if the signal aborts first or the follower ends */
  passed(position: number, signal: AbortSignal): Promise<boolean>;
}

export type { RecordedEvent };
