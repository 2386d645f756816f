/**
 * Another node with a newer lease does this work now. The writer is refused and must not retry. The writing sides of
 * shared stores throw it.
 */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}
