/**
 * A stored state of a stream at one of its events. With it, a long stream need not be read from its beginning. It is a
 * cache, so a loss only costs time. It has no texts, no personal data and no secrets.
 */
export interface StoredSnapshot {
  readonly stream: string;
  /** The revision of the last event in it. */
  readonly revision: number;
  /** The hash of that event. If the event in the log has a different hash, the snapshot is of another log. */
  readonly hash: string;
  /** The entity's `stateVersion`. */
  readonly stateVersion: number;
  /** See `snapshot-text.ts`; at most 12 MiB. */
  readonly body: string;
}

/** Stores one snapshot for each stream. */
export interface SnapshotStore {
  /** @throws UnavailableError */
  read(stream: string): Promise<StoredSnapshot | null>;
  /** Stores a snapshot in place of the stream's earlier one. @throws UnavailableError */
  save(snapshot: StoredSnapshot): Promise<void>;
}
