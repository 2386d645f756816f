/**
 * Appends on their way to the writer thread, in columns: an array of texts crosses threads far cheaper than objects.
 */
export interface AppendMessage {
  readonly kind: 'append';
  /** One for each append. */
  readonly streams: ReadonlyArray<string>;
  readonly expectedRevisions: ReadonlyArray<number>;
  readonly eventCounts: ReadonlyArray<number>;
  /** Of each event of each append: id, type, data, metadata. */
  readonly texts: ReadonlyArray<string>;
}

/** Asks for the removal of some of a stream's events: those from one revision to another. */
export interface RemoveMessage {
  readonly kind: 'remove';
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  /** The revision that the stream must be at. */
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
  /** `changed`: the stream is at another revision; `newest`: it has the newest event of the log, which stays. */
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

/** The outcome of an append that conflicted, in place of its position; no position is negative. */
export const conflictMark = -1;
