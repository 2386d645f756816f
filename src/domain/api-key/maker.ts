import { isCuid } from '#domain/codecs/id.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';

/** The key that a caller acts with, as events record it; null for a caller without one: the operator on the machine. */
export function makerOf({ keyId }: Caller): string | null {
  return isCuid(keyId) ? keyId : null;
}

/** The key that a caller acts with was revoked while it acted. */
export const makerRevoked: Failure = failure(
  'key-invalid',
  'The API key was revoked while it was used. What it asked for is not given out.',
);
