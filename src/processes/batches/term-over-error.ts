/** This node's term of running batches has lapsed, or another run of the batch has begun: it records nothing more. */
export class TermOverError extends Error {
  override readonly name = 'TermOverError';
}
