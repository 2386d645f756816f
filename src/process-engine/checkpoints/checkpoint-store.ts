import type { EventFailure } from '#domain/shared/event-failure.ts';

/** How far a process is. */
export interface Checkpoint {
  /** The position that it has passed; 0 at first. */
  readonly position: number;
  /** The position of the last event that it has appended itself; 0 when there is none. */
  readonly lastAppended: number;
}

/** A checkpoint as those see it who only look. */
export interface WatchedCheckpoint extends Checkpoint {
  /** The event at which the process has stopped; null while it runs. */
  readonly failure: EventFailure | null;
}

/**
 * Where processes keep how far they are. Not in the read store: a rebuild of read models re-runs no process. A
 * checkpoint is of one log (`src/event-store/log-identity.ts`) and counts for no other; one of an older release, which
 * names none, is taken for that of whoever asks.
 */
export interface CheckpointStore {
  /**
   * The checkpoint of a process in a log, for the node that runs it from now on: the beginning, if it was in another
   * log.
   * @throws UnavailableError; FencedError where nodes share the store and another runs the process under a newer lease
   */
  read(process: string, log: string): Promise<Checkpoint>;
  /** The checkpoint of a process in a log, whichever node runs it. @throws UnavailableError */
  peek(process: string, log: string): Promise<WatchedCheckpoint>;
  /**
   * Of the log that was last read for.
   * @throws UnavailableError; FencedError as `read`, and once the process was read for another log
   */
  write(process: string, log: string, checkpoint: Checkpoint): Promise<void>;
  /**
   * Keeps the event at which a process has stopped, or null once it runs again. Its checkpoint stays before that event:
   * a
   * checkpoint that has passed the event ends the failure, too.
   * @throws as `write`
   */
  writeFailure(process: string, log: string, failure: EventFailure | null): Promise<void>;
  /** Sets a process back to the beginning of the log. @throws as `write` */
  reset(process: string, log: string): Promise<void>;
  close(): Promise<void>;
}

/** Of a process that has seen nothing of the log. */
export const startOfLog: Checkpoint = { position: 0, lastAppended: 0 };

/** A checkpoint and the failure that was kept beside it, unless the checkpoint has passed that event. */
export function watchedCheckpoint(checkpoint: Checkpoint, failure: EventFailure | null): WatchedCheckpoint {
  const hasStopped = failure !== null && failure.position > checkpoint.position;
  return { ...checkpoint, failure: hasStopped ? failure : null };
}
