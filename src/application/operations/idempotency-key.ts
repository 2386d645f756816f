import { type Failure, failure } from '#domain/shared/failure.ts';

const printableAscii = /^[\x20-\x7e]{1,255}$/;

/** Returns why a text is not a valid `Idempotency-Key`; null if it is valid. */
export function checkIdempotencyKey(text: unknown): Failure | null {
  if (typeof text === 'string' && printableAscii.test(text)) return null;
  return failure(
    'invalid-header',
    'Idempotency-Key must be 1 to 255 printable ASCII characters; blanks around it do not count.',
  );
}
