import { type Failure, failure } from '#domain/shared/failure.ts';

const printableAscii = /^[\x20-\x7e]{1,255}$/;

/** Why a text cannot be an `Idempotency-Key`; null for one that can. */
export function checkIdempotencyKey(text: unknown): Failure | null {
  if (typeof text === 'string' && printableAscii.test(text)) return null;
  return failure(
    'invalid-header',
    'Idempotency-Key must be 1 to 255 printable ASCII characters; blanks around it do not count.',
  );
}
