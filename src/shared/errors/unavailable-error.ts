/**
 * A store cannot be reached or will not take more just now. Thrown by reads of both stores; the faces answer it as
 * 503 with `Retry-After`.
 */
export class UnavailableError extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterSeconds: number;

  /** @param message what is unavailable, without secrets; @param retryAfterSeconds when to try again */
  constructor(message: string, retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A store cannot be used until a person changes something, such as a password: a start does not wait for it. */
export class PermanentlyUnavailableError extends UnavailableError {
  readonly isPermanent = true;
}
