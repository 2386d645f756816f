import type { SealedText } from '#domain/shared/personal-data.ts';

/** What every signing secret begins with (Standard Webhooks). */
export const secretPrefix = 'whsec_';

/** The name of the field under which secrets are sealed. */
export const secretField = 'secret';

/** How long a replaced secret is still used for signing. */
export const secretOverlapMs = 24 * 60 * 60 * 1000;

/** A signing secret of an endpoint, sealed with the endpoint's key. */
export interface SealedSecret {
  readonly secret: SealedText;
  /** When it expires because it was replaced (RFC 3339); null for the newest. */
  readonly validUntil: string | null;
}

/** The most valid secrets at once; beyond that the oldest expire. */
const maxSecrets = 5;

/**
 * The secrets after a rotation, the newest first.
 * @param now of the rotation, RFC 3339
 */
export function rotatedSecrets(
  before: ReadonlyArray<SealedSecret>,
  secret: SealedText,
  previousValidUntil: string,
  now: string,
): ReadonlyArray<SealedSecret> {
  const replaced = before.map((each) => ({ ...each, validUntil: each.validUntil ?? previousValidUntil }));
  return [{ secret, validUntil: null }, ...validSecrets(replaced, now)].slice(0, maxSecrets);
}

/** The secrets that are valid at a time (RFC 3339). */
export function validSecrets(secrets: ReadonlyArray<SealedSecret>, now: string): ReadonlyArray<SealedSecret> {
  return secrets.filter(({ validUntil }) => validUntil === null || validUntil > now);
}
