import { isCuid } from '#domain/codecs/id.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';

/** The id of a caller's key, as events record it; null for the local operator, who has none. */
export function makerOf({ keyId }: Caller): string | null {
  return isCuid(keyId) ? keyId : null;
}

/** The failure if the caller's key was revoked during the request. */
export const makerRevoked: Failure = failure(
  'key-invalid',
  'The API key was revoked while it was used. So this request gets no secret.',
);
