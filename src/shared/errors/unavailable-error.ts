/**
 * A store cannot be reached or cannot accept more now. Reads of both stores throw it. Callers get 503 with
 * `Retry-After`.
 */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
  readonly retryAfterSeconds: number;

  /** @param message what is unavailable, without secrets @param retryAfterSeconds when to retry */
  constructor(message: string, retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A store cannot be used until a person changes something, such as a password. A start does not wait for that. */
export class PermanentlyUnavailableError extends UnavailableError {
  override readonly name = 'PermanentlyUnavailableError';
  readonly isPermanent = true;
}
