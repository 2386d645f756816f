import { existsSync } from 'node:fs';
import { readConfig, readDigestKeys } from '#app/config.ts';
import { openLocalService } from '#cli/shared/local-service.ts';
import { DigestCheck, type Findings } from '#digests/digest-check.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { createSigningKey, publicPemOf, readPublicKeys, readSigningKey } from '#digests/digest-keys.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

/**
 * @param keyFile the file of the only trusted public key; without it those of the environment are trusted. A key in the
 * folder of the digests is never used.
 * @throws StartupError, LogError
 */
export function openDigestCheck(folder: string, keyFile: string | undefined, findings: Findings): Promise<DigestCheck> {
  const keys = keyFile === undefined ? readDigestKeys(process.env).trusted : readPublicKeys(keyFile, '--key');
  if (keys.length === 0)
    throw new StartupError(
      'Name the public key that must have signed the digests: --key <file>. The service prints its own with: npm run --silent events -- digest-key --public',
    );
  return DigestCheck.open(new DigestFolder(folder), keys, findings);
}

/** The first digest of a large log takes minutes. */
const writeTimeoutMs = 60 * 60 * 1000;

/** Requests a signed digest from the service. @returns the exit code */
export async function writeDigest(afterRestore: boolean): Promise<number> {
  const service = await openLocalService(writeTimeoutMs);
  try {
    const { status, body } = await service.call('POST', '/v1/digests', { afterRestore });
    if (status >= 300) throw new StartupError(body.detail);
    const { chain, number, time, streams, events, root } = body;
    process.stdout.write(
      `digest ${number} of chain ${chain}, ${time}: ${events} events in ${streams} streams, root ${root}\n`,
    );
    return 0;
  } finally {
    await service.close();
  }
}

/** Prints a new private key, or the public half of the service's. @returns the exit code @throws StartupError */
export function printDigestKey(isPublic: boolean): number {
  if (!isPublic) {
    process.stdout.write(createSigningKey());
    return 0;
  }
  const { digestKeys, ownDigestKeyFile: file } = readConfig(process.env);
  const signing = digestKeys.signing ?? (file !== null && existsSync(file) ? readSigningKey(file, file) : null);
  if (signing === null) throw new StartupError('DIGEST_SIGNING_KEY is not set, and DATA_DIR has no digest-key.pem.');
  process.stdout.write(publicPemOf(signing));
  return 0;
}
