/** Appends on their way to the writer thread, in columns: an array of texts crosses threads far cheaper than objects. */
export interface AppendMessage {
  readonly kind: 'append';
  /** One for each append. */
  readonly streams: ReadonlyArray<string>;
  readonly expectedRevisions: ReadonlyArray<number>;
  readonly eventCounts: ReadonlyArray<number>;
  /** Of each event of each append: id, type, data, metadata. */
  readonly texts: ReadonlyArray<string>;
}

/** What the main thread tells the writer thread. */
export type ToWriter =
  | AppendMessage
  | { readonly kind: 'wake'; readonly port: import('node:worker_threads').MessagePort }
  | { readonly kind: 'close' };

/** A commit succeeded. Answers come in the order of the appends. */
export interface Committed {
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

/** What the writer thread tells the main thread. */
export type FromWriter = Committed | CommitFailed | { readonly kind: 'ready'; readonly lastPosition: number };

/** Stands where an outcome has its position when the append conflicted; no position is negative. */
export const conflictMark = -1;
