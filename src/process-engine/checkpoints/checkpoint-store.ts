import type { EventFailure } from '#domain/shared/event-failure.ts';

/** How far a process has read the log. */
export interface Checkpoint {
  /** The position up to which it has handled every event; 0 at first. */
  readonly position: number;
  /** The position of the last event that the process itself has appended; 0 without one. */
  readonly lastAppended: number;
}

/** A checkpoint for readers that do not run the process. */
export interface WatchedCheckpoint extends Checkpoint {
  /** The event at which the process has stopped; null while it runs. */
  readonly failure: EventFailure | null;
}

/**
 * Stores the checkpoints of processes. They are not in the read store, because a rebuild of read models must not run a
 * process again. A checkpoint is valid for one log (`src/event-store/log-identity.ts`). A checkpoint of an older
 * release names no log, and counts for any.
 */
export interface CheckpointStore {
  /**
   * Reads the checkpoint of a process, for the node that runs it from now on. It is the log's beginning if the stored
   * one is of another log.
   * @throws UnavailableError; FencedError if another node runs the process under a newer lease
   */
  read(process: string, log: string): Promise<Checkpoint>;
  /** Reads the checkpoint of a process in a log, whichever node runs it. @throws UnavailableError */
  peek(process: string, log: string): Promise<WatchedCheckpoint>;
  /**
   * Writes a checkpoint in the log that `read` was last called with.
   * @throws UnavailableError; FencedError as `read` does, and after the process was read for another log
   */
  write(process: string, log: string, checkpoint: Checkpoint): Promise<void>;
  /**
   * Stores the event at which a process has stopped, or null when it runs again. The checkpoint stays before that
   * event. A checkpoint that has passed the event ends the failure too.
   * @throws as `write` does
   */
  writeFailure(process: string, log: string, failure: EventFailure | null): Promise<void>;
  /** Sets a process back to the beginning of the log. @throws as `write` does */
  reset(process: string, log: string): Promise<void>;
  close(): Promise<void>;
}

/** The checkpoint of a process that has handled no event. */
export const startOfLog: Checkpoint = { position: 0, lastAppended: 0 };

/** Joins a checkpoint and the stored failure. A failure at an event that the checkpoint has passed is dropped. */
export function watchedCheckpoint(checkpoint: Checkpoint, failure: EventFailure | null): WatchedCheckpoint {
  const hasStopped = failure !== null && failure.position > checkpoint.position;
  return { ...checkpoint, failure: hasStopped ? failure : null };
}
