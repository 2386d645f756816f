import { withTimeoutError } from '#shared/async/with-timeout.ts';

/** What was waited for did not come in time. */
export class TimedOutError extends Error {
  override readonly name = 'TimedOut';
  /** The gRPC status of a deadline exceeded, which it is treated as. */
  readonly code = 4;
}

/**
 * Waits for a promise, for so long at most. The promise goes on; what it comes to later is nobody's.
 * @throws TimedOutError
 */
export function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  return withTimeoutError(milliseconds, promise, () => new TimedOutError(`No answer within ${milliseconds} ms`));
}
