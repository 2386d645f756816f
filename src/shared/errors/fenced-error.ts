/**
 * Another node with a newer lease does this work now. The writer is refused and must not retry. The writing sides of
 * shared stores throw it.
 */
export class FencedError extends Error {
  override readonly name: string = 'FencedError';
}

/** The work was left, or has ended. What it still calls is refused, and must not be tried again. */
export class TermLeftError extends FencedError {
  override readonly name = 'TermLeftError';
}
