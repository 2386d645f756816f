/** A digest cannot be made, and an operator must act. The message says how. */
export class DigestRefusedError extends Error {
  override readonly name = 'DigestRefusedError';
}
