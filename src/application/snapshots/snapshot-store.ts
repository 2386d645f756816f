/**
 * A stream's state at one of its events, kept so that a long stream need not be read from its beginning. A cache: what
 * is lost costs time alone. It holds no texts, no personal data and no secrets.
 */
export interface StoredSnapshot {
  readonly stream: string;
  /** Of the last event that is in it. */
  readonly revision: number;
  /** That event's hash: where the stream has another event at this revision, the snapshot is of another log. */
  readonly hash: string;
  /** The entity's `stateVersion`. */
  readonly stateVersion: number;
  /** See `snapshot-text.ts`; 12 MiB at most. */
  readonly body: string;
}

/** Where snapshots are kept, one for each stream. */
export interface SnapshotStore {
  /** @throws UnavailableError */
  read(stream: string): Promise<StoredSnapshot | null>;
  /** Takes the place of the stream's snapshot before. @throws UnavailableError */
  save(snapshot: StoredSnapshot): Promise<void>;
}
