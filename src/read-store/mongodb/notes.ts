import type { Db, Long } from 'mongodb';
import type { StoredSnapshot } from '#read-store/snapshot-store.ts';

/** The collection of single records: the projections' positions, their status, and the operators' requests. */
export const notesName = 'notes';

/** The name of a note. */
export type NoteName = 'positions' | 'status' | 'operator-state';

/** A note in its collection. */
export interface NoteRecord<Token = Long> {
  readonly _id: NoteName;
  /** JSON text. */
  readonly body: string;
  /** The fencing token of the writer's lease. */
  readonly fence: Token;
}

/** Reads a note; null if it was never written. */
export function readNote(database: Db, name: NoteName): Promise<NoteRecord<number> | null> {
  return database.collection<NoteRecord<number>>(notesName).findOne({ _id: name });
}

/** The collection of the snapshots of streams, which any node reads and writes. */
export const snapshotsName = 'snapshots';

/** A snapshot in its collection. */
export interface SnapshotRecord extends Omit<StoredSnapshot, 'stream'> {
  /** The name of the stream. */
  readonly _id: string;
}

/** The collection of the times at which each API key was last used. */
export const keysLastUsedName = 'keysLastUsed';

/** The time of a key's last use in its collection. */
export interface KeyLastUsedRecord {
  readonly _id: string;
  /** RFC 3339. */
  readonly time: string;
}
