/** How far a process is. */
export interface Checkpoint {
  /** The position that it has passed; 0 at first. */
  readonly position: number;
  /** The position of the last event that it has appended itself; 0 when there is none. */
  readonly lastAppended: number;
}

/** Where processes keep how far they are. Not in the read store: a rebuild of read models re-runs no process. */
export interface CheckpointStore {
  /**
   * Where a process stands, for whoever runs it from now on.
   * @throws Unavailable; Superseded where nodes share the store and another runs the process under a newer lease
   */
  read(process: string): Promise<Checkpoint>;
  /** Where a process stands, whoever runs it. @throws Unavailable */
  peek(process: string): Promise<Checkpoint>;
  /** @throws as `read` */
  write(process: string, checkpoint: Checkpoint): Promise<void>;
  close(): Promise<void>;
}

/** Of a process that has never run. */
export const beginning: Checkpoint = { position: 0, lastAppended: 0 };
