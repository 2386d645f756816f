/**
 * Appends in columns for the writer thread, because arrays of texts are much cheaper to send to another thread than
 * objects.
 */
export interface AppendMessage {
  readonly kind: 'append';
  /** The stream of each append. */
  readonly streams: ReadonlyArray<string>;
  readonly expectedRevisions: ReadonlyArray<number>;
  /** The events with which the streams must end; empty where any event will do. */
  readonly lastEventIds: ReadonlyArray<string>;
  readonly eventCounts: ReadonlyArray<number>;
  /** The id, type, data and metadata of each event of each append. */
  readonly texts: ReadonlyArray<string>;
}

export interface RemoveMessage {
  readonly kind: 'remove';
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  /** The revision that the stream must have. */
  readonly lastRevision: number;
}

export type ToWriter =
  | AppendMessage
  | RemoveMessage
  | { readonly kind: 'wake'; readonly port: import('node:worker_threads').MessagePort }
  | { readonly kind: 'close' };

/** Answers come in the order of the appends. */
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

/** Answers come in the order of the messages. */
export interface RemovalAnswer {
  readonly kind: 'removal';
  /**
   * The result of the removal. `changed`: the stream has another last revision. `newest`: it has the newest event of
   * the log, which stays.
   */
  readonly outcome: 'removed' | 'changed' | 'newest' | 'failed';
  readonly detail: string;
}

export type FromWriter =
  | CommitSucceeded
  | CommitFailed
  | RemovalAnswer
  | { readonly kind: 'ready'; readonly lastPosition: number };

/** The mark of a conflict in place of a position. No position is negative. */
export const conflictMark = -1;
