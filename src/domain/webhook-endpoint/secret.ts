import type { SealedText } from '#domain/shared/personal-data.ts';

/** The beginning of every signing secret (Standard Webhooks). */
export const secretPrefix = 'whsec_';

/** The name under which secrets are sealed. */
export const secretField = 'secret';

/** A replaced secret is still used for signing this long. */
export const secretOverlapMs = 24 * 60 * 60 * 1000;

/** A secret that is sealed with the endpoint's key. */
export interface SealedSecret {
  readonly secret: SealedText;
  /** When it expires because it was replaced (RFC 3339); null for the newest. */
  readonly validUntil: string | null;
}

/** Maximum number of secrets that are valid at the same time; beyond that the oldest expire. */
const maxSecrets = 5;

/** The secrets, the newest first. @param now of the rotation, RFC 3339 */
export function rotatedSecrets(
  before: ReadonlyArray<SealedSecret>,
  secret: SealedText,
  previousValidUntil: string,
  now: string,
): ReadonlyArray<SealedSecret> {
  const replaced = before.map((each) => ({ ...each, validUntil: each.validUntil ?? previousValidUntil }));
  return [{ secret, validUntil: null }, ...validSecrets(replaced, now)].slice(0, maxSecrets);
}

/** @param now RFC 3339 */
export function validSecrets(secrets: ReadonlyArray<SealedSecret>, now: string): ReadonlyArray<SealedSecret> {
  return secrets.filter(({ validUntil }) => validUntil === null || validUntil > now);
}
