import type { Long } from 'mongodb';

/** The collection of what is kept whole: the status of the projections, and what operators asked for. */
export const notesName = 'notes';

export interface NoteRecord {
  readonly _id: string;
  /** JSON text. */
  readonly body: string;
  /** The token of the lease that wrote it. */
  readonly fence: Long;
}

/** The collection of when each API key was last used. */
export const keysLastUsedName = 'keysLastUsed';

export interface KeyLastUsedRecord {
  readonly _id: string;
  /** RFC 3339. */
  readonly time: string;
}
