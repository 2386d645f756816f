/** A digest cannot be made, and a person must do something about it. The message says what. */
export class DigestRefusedError extends Error {
  override readonly name = 'DigestRefusedError';
}
