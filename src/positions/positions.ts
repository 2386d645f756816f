/** The position of one follower of the log, as far as callers may wait for it. */
export interface FollowedPosition {
  /** The position up to which it has handled the log. */
  readonly position: number;
  /** Whether it follows the log: false after it has stopped, and while its documents are filled for the first time. */
  readonly live: boolean;
}

/** What follows the log: a projection, by its read model's name, or a process. */
export type FollowerKind = 'projection' | 'process';

/** A follower whose position is known. */
export interface FollowerInfo {
  readonly name: string;
  /** The event types that it handles. */
  readonly types: ReadonlyArray<string>;
}

/** `reached`: the followers have passed the position. `timeout`: the time ran out first. */
export type WaitOutcome = 'reached' | 'timeout';

/** Where a source of positions reports them: the projector thread, the process host, or the poll of a shared store. */
export interface PositionSink {
  /** Sets which followers of a kind exist, in place of earlier ones. */
  declare(kind: FollowerKind, followers: ReadonlyArray<FollowerInfo>): void;
  /** Sets the positions of a kind. A follower that is missing is unknown: no caller waits for it, unless strictly. */
  update(kind: FollowerKind, positions: ReadonlyMap<string, FollowedPosition>): void;
  /**
   * Reports that a process has appended because of an event, so that a caller who appended that event also waits for
   * the read models of this append.
   * @param causePosition the position of the event to which it reacted
   * @param appendedPosition the position of the last event that it appended because of it
   */
  recordEffect(process: string, causePosition: number, appendedPosition: number): void;
}
