import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createSigningKey, keyIdOf, readSigningKey } from '#digests/digest-keys.ts';
import type { Digest } from '#domain/history/digest.ts';
import { replaceFileSync } from '#shared/files/replace-file.ts';
import type { Logger } from '#shared/logging/logger.ts';

export interface OwnDigestKeyOptions {
  readonly file: string;
  /** The newest digest; null without one. */
  readonly newest: Pick<Digest, 'key'> | null;
  /** Ids of other keys whose signatures are accepted. */
  readonly accepted: ReadonlySet<string>;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Returns the key that signs digests where an operator names none: the one that an earlier start has made next
 * to the data, or a new one.
 * @returns null if another key has signed the digests that are here, whose chain only that one may continue
 * @throws StartupError for a damaged file
 */
export function ownDigestKey({ file, newest, accepted, log }: OwnDigestKeyOptions): KeyObject | null {
  const isNew = !existsSync(file);
  const isForeign = (key: KeyObject | null) =>
    newest !== null && !accepted.has(newest.key) && (key === null || keyIdOf(key) !== newest.key);
  const known = isNew ? null : readSigningKey(file, file);
  if (isForeign(known)) {
    log.warn(
      { key: newest?.key },
      'No digests are written: another key has signed those that are here. Name it in DIGEST_SIGNING_KEY, or its public half in DIGEST_OLD_PUBLIC_KEYS to continue with a new one',
    );
    return null;
  }
  if (known !== null) return known;
  replaceFileSync(file, createSigningKey());
  log.warn(
    { file },
    'A key for signed digests was made next to the data, where it proves little: move it elsewhere, and name it in DIGEST_SIGNING_KEY',
  );
  return readSigningKey(file, file);
}
