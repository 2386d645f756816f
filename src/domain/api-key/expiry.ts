import { type Failure, failure } from '#domain/shared/failure.ts';

/**
 * Why a key cannot expire at a time; null if it can.
 * @param expiresAt RFC 3339 in UTC with milliseconds; null for a key that does not expire
 * @param now in the same form
 */
export function expiryRefusal(expiresAt: string | null, now: string): Failure | null {
  if (expiresAt === null || expiresAt > now) return null;
  const errors = [{ pointer: '/expiresAt', message: `is ${expiresAt}, which is not in the future` }];
  return failure('invalid-input', `A key cannot end at ${expiresAt}: name a time in the future, or null.`, { errors });
}
