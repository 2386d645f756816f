/** The term of this node has lapsed, or another run of the batch has begun. This run records nothing more. */
export class TermOverError extends Error {
  override readonly name = 'TermOverError';
}
