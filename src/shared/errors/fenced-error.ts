/**
 * Somebody with a newer lease does this work now: this writer is refused, and must not try again. Thrown by
 * the writing sides of stores that several nodes share.
 */
export class FencedError extends Error {
  override readonly name = 'Superseded';
}
