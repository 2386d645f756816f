import { type Failure, failure } from '#domain/shared/failure.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';
import { levelOf, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { diskFull, isDiskFull } from './disk-full.ts';

/** An unreadable event needs another release, so clients should not retry soon. */
const unreadableRetrySeconds = 60;

/**
 * Makes the failure for an operation that throws, and logs the error. The text of an unexpected error is only in the
 * log, because it may contain data that the client must not see.
 * @param operation the operation's name, for the log
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
    const { message, retryAfterSeconds } = error;
    logger[levelOf(error)]({ requestId, operation, reason: message }, 'unavailable');
    return failure('unavailable', `${message} Try again later.`, { retryAfterSeconds });
  }
  if (error instanceof UnreadableEventError) {
    logger.error({ requestId, operation, reason: error.message }, 'unreadable event');
    // A newer release may be able to read it. Until then nothing may be written to the stream.
    const detail = `${error.message} Nothing was changed. Tell the operator.`;
    return failure('stream-unreadable', detail, { retryAfterSeconds: unreadableRetrySeconds });
  }
  logger.error({ requestId, operation, err: error }, 'internal error');
  return failure('internal-error', `Tell the operator the request id ${requestId}.`);
}
