/**
 * Appends in columns for the writer thread, because arrays of texts are much cheaper to send to another thread than
 * objects.
 */
export interface AppendMessage {
  readonly kind: 'append';
  /** One for each append. */
  readonly streams: ReadonlyArray<string>;
  readonly expectedRevisions: ReadonlyArray<number>;
  /** The ids of the events that the streams must end with; empty where any event will do. */
  readonly lastEventIds: ReadonlyArray<string>;
  readonly eventCounts: ReadonlyArray<number>;
  /** The id, type, data and metadata of each event of each append. */
  readonly texts: ReadonlyArray<string>;
}

/** Requests the removal of a stream's events from one revision to another. */
export interface RemoveMessage {
  readonly kind: 'remove';
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  /** The expected last revision of the stream. */
  readonly lastRevision: number;
}

/** A message from the main thread to the writer thread. */
export type ToWriter =
  | AppendMessage
  | RemoveMessage
  | { readonly kind: 'wake'; readonly port: import('node:worker_threads').MessagePort }
  | { readonly kind: 'close' };

/** A commit succeeded. Answers come in the order of the appends. */
export interface CommitSucceeded {
  readonly kind: 'committed';
  /** Two numbers for each append: see `settle` in `append-queue.ts`. */
  readonly outcomes: ReadonlyArray<number>;
  /** The position of the last event stored. */
  readonly lastPosition: number;
  readonly events: number;
  readonly milliseconds: number;
}

/** Nothing of these appends was stored. */
export interface CommitFailed {
  readonly kind: 'failed';
  readonly appends: number;
  readonly detail: string;
}

/** The answer to a removal. Answers come in the order of the messages. */
export interface RemovalAnswer {
  readonly kind: 'removal';
  /** `changed`: the stream has another last revision. `newest`: it has the newest event of the log, which stays. */
  readonly outcome: 'removed' | 'changed' | 'newest' | 'failed';
  /** Why it failed. */
  readonly detail: string;
}

/** A message from the writer thread to the main thread. */
export type FromWriter =
  | CommitSucceeded
  | CommitFailed
  | RemovalAnswer
  | { readonly kind: 'ready'; readonly lastPosition: number };

/** Marks the outcome of an append with a conflict, in place of its position. No position is negative. */
export const conflictMark = -1;
