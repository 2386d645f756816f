import type { EventFailure } from '#domain/shared/event-failure.ts';

/** How far one process has handled the log, and what it waits for. */
export interface ProcessCheckpoint {
  /** The position up to which it has handled every event. */
  readonly position: number;
  /** The position of the last event that it has appended; 0 without one. */
  readonly lastAppended: number;
  /** The event at which it has stopped; null while it runs. */
  readonly failure: EventFailure | null;
  /** What it waits for, such as a read model that is behind; null while it handles events. */
  readonly waitingFor: string | null;
}

/** An append of a process because of an event, by their positions. */
export interface ProcessEffect {
  readonly process: string;
  readonly cause: number;
  readonly appended: number;
}

/** What the node that runs the processes stores for itself and for the other nodes. */
export interface ProcessesRecord {
  /** The identity of the log to which the positions belong. */
  readonly log: string;
  /** The fencing token of the lease under which it was written. */
  readonly token: number;
  readonly checkpoints: Readonly<Record<string, ProcessCheckpoint>>;
  /** The newest effects. */
  readonly effects: ReadonlyArray<ProcessEffect>;
}
