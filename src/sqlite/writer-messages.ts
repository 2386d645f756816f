/** A value of a row. */
export type SqlValue = string | number | null | Uint8Array;

/** A statement, which is executed once for each row of parameters. */
export interface SqlStatement {
  readonly sql: string;
  readonly rows: ReadonlyArray<ReadonlyArray<SqlValue>>;
}

/** A file that the writer thread writes. */
export interface WrittenFile {
  readonly path: string;
  /** What the file holds, for messages, which must not contain its path: "The subject keys". */
  readonly contents: string;
  /**
   * Whether a write is on the disk when it is answered, and overwritten bytes are set to zero. Otherwise a crash of the
   * machine may lose the last writes.
   */
  readonly isDurable: boolean;
}

/** One write of a file: all its statements are executed, or none. */
export interface SqlWrite {
  readonly statements: ReadonlyArray<SqlStatement>;
  /** If this query finds a row, nothing is written, and the write is answered with `refused`. */
  readonly unless?: { readonly sql: string; readonly values: ReadonlyArray<SqlValue> };
  /** Whether the write-ahead log is emptied before the answer, so that no earlier value is left in it. */
  readonly emptiesLog?: boolean;
}

/** A write on its way to the thread. */
export interface WriteMessage {
  readonly kind: 'write';
  readonly file: WrittenFile;
  readonly write: SqlWrite;
}

/** A message to the writer thread. */
export type ToSqliteWriter = WriteMessage | { readonly kind: 'close' };

/** The outcome of a write. */
export type WriteAnswer =
  | { readonly kind: 'done' | 'refused' }
  /** Nothing was written, but for a write whose log could not be emptied. */
  | { readonly kind: 'failed'; readonly detail: string };

/** The answers to some writes, in the order of the messages. */
export type FromSqliteWriter = ReadonlyArray<WriteAnswer>;
