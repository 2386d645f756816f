import * as t from 'io-ts';

/**
 * An event that was read. Where a log has another event at this position, or none, it is another log, or it was
 * restored from a backup.
 */
export const LogMark = t.type({ position: t.number, id: t.string });

export type LogMark = t.TypeOf<typeof LogMark>;

/** What was read of a log. It is stored with each checkpoint, and covers all that was read up to it. */
export const ReadOfLog = t.type({
  /** The marks in the order of positions. */
  marks: t.readonlyArray(LogMark),
  /** No further event that may be a mark was found between the last one and this position. */
  readTo: t.number,
});

export type ReadOfLog = t.TypeOf<typeof ReadOfLog>;

export const nothingRead: ReadOfLog = { marks: [], readTo: 0 };
