/**
 * A store cannot be reached or cannot accept more now. Reads of both stores throw it. Callers get 503 with
 * `Retry-After`.
 */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
  readonly retryAfterSeconds: number;
  /**
   * The connection to the store logs the outage, with one warning when it begins and one line when it ends. Then its
   * users do not warn too.
   */
  readonly isLogged: boolean;

  /** @param message what is unavailable, without secrets */
  constructor(message: string, retryAfterSeconds = 1, isLogged = false) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
    this.isLogged = isLogged;
  }
}

/** The level for a failure that a user of a store logs. */
export function levelOf(error: unknown): 'info' | 'warn' {
  return error instanceof UnavailableError && error.isLogged ? 'info' : 'warn';
}

/** A store cannot be used until a person changes something, such as a password. A start does not wait for that. */
export class PermanentlyUnavailableError extends UnavailableError {
  override readonly name = 'PermanentlyUnavailableError';
  readonly isPermanent = true;
}

/** The store can be used, but refuses these values. Another try changes nothing. */
export class RefusedWriteError extends UnavailableError {
  override readonly name = 'RefusedWriteError';
}

/** MongoDB's codes for a document, or an entry of an index, that is too large. */
const tooLargeCodes: ReadonlySet<unknown> = new Set([10_334, 17_280]);

/**
 * A store cannot be used for a while, so that another try may help. That is every failure that is not the fault of the
 * values: also one that an operator has to repair, such as a missing permission or a full disk.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof RefusedWriteError || error instanceof TypeError || error instanceof RangeError) return false;
  if (!(error instanceof Error)) return true;
  const { name, code } = error as Error & { readonly code?: unknown };
  // The driver refuses a document that is too large for a command before it sends it.
  return !name.startsWith('BSON') && name !== 'MongoInvalidArgumentError' && !tooLargeCodes.has(code);
}
