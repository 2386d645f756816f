import { type Failure, failure } from '#domain/shared/failure.ts';

/** https://sqlite.org/rescode.html#full */
const sqliteFull = 13;
/** The index of a write-ahead log cannot grow: https://sqlite.org/rescode.html#ioerr_shmsize */
const sqliteShmSize = 4874;

/** Returns whether an error, or its cause, means that a disk (or a disk quota) is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  if (typeof errcode === 'number' && ((errcode & 0xff) === sqliteFull || errcode === sqliteShmSize)) return true;
  return isDiskFull(error.cause);
}

/** The refusal of a request that needs space on a full disk. */
export const diskFull: Failure = failure(
  'disk-full',
  'The disk of this node has too little free space left. Try again later, or ask the operator to make room.',
  { retryAfterSeconds: 10 },
);
