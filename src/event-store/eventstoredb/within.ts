import { withTimeoutError } from '#shared/async/with-timeout.ts';

/** No answer came in time. */
export class TimedOutError extends Error {
  override readonly name = 'TimedOut';
  /** The gRPC status of a deadline exceeded, which it is treated as. */
  readonly code = 4;
}

/**
 * Waits for a promise no longer than a limit, in milliseconds. A late result is ignored.
 * @throws TimedOutError
 */
export function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  return withTimeoutError(milliseconds, promise, () => new TimedOutError(`No answer within ${milliseconds} ms`));
}
