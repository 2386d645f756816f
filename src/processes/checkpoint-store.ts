/** Where processes keep how far they are. Not in the read store: a rebuild of read models re-runs no process. */
export interface CheckpointStore {
  /** The position that a process has passed; 0 at first. */
  read(process: string): Promise<number>;
  write(process: string, position: number): Promise<void>;
  close(): Promise<void>;
}
