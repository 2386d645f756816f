import { type Failure, failure } from '#domain/shared/failure.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { isLoggedByStore, UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** Only a person can make the stream readable, so clients should not retry soon. */
const unreadableRetrySeconds = 60 * 60;

/**
 * Logs the error. The text of an unexpected error is only in the log, because it may contain data that the client must
 * not see.
 * @param operation for the log
 */
export function failureOfError(
  error: unknown,
  { requestId, operation }: { readonly requestId: string; readonly operation: string },
  logger: Logger,
): Failure {
  if (isDiskFull(error)) {
    logger.warn({ requestId, operation, reason: String(error) }, 'the disk is full');
    return diskFull;
  }
  if (error instanceof UnavailableError) {
    const { message, retryAfterSeconds, isLogged } = error;
    if (!isLogged) logger.warn({ requestId, operation, reason: message }, 'unavailable');
    return failure('unavailable', `${message} Try again later.`, { retryAfterSeconds, isOutage: isLogged });
  }
  if (error instanceof UnreadableEventError) {
    logger.error({ requestId, operation, reason: error.message }, 'unreadable event');
    // A newer release may be able to read it. Until then nothing may be written to the stream.
    return unreadable(error);
  }
  if (error instanceof UnreadableStreamError) {
    logger[isLoggedByStore(error) ? 'info' : 'error'](
      { requestId, operation, reason: error.message },
      'unreadable stream',
    );
    return unreadable(error);
  }
  logger.error({ requestId, operation, err: error }, 'internal error');
  return failure('internal-error', `Tell the operator the request id ${requestId}.`);
}

function unreadable({ message }: Error): Failure {
  const detail = `${message} Nothing was changed. Tell the operator.`;
  return failure('stream-unreadable', detail, { retryAfterSeconds: unreadableRetrySeconds });
}

/** https://sqlite.org/rescode.html#full */
const sqliteFull = 13;
/** The index of a write-ahead log cannot grow: https://sqlite.org/rescode.html#ioerr_shmsize */
const sqliteShmSize = 4874;

/** A disk (or a disk quota) is full, by the error or its cause. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  if (typeof errcode === 'number' && ((errcode & 0xff) === sqliteFull || errcode === sqliteShmSize)) return true;
  return isDiskFull(error.cause);
}

/** The failure of a request that needs space on a full disk. */
export const diskFull: Failure = failure(
  'disk-full',
  'The disk of this node has too little free space left. Try again later, or ask the operator to make room.',
  { retryAfterSeconds: 10 },
);
