import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StartupError } from '#shared/errors/startup-error.ts';

export interface DigestKeys {
  /** The key that signs digests; null if this process makes none. */
  readonly signing: KeyObject | null;
  /** The public half of the signing key, and earlier keys. */
  readonly trusted: ReadonlyArray<KeyObject>;
}

/** A public key as `/.well-known/switchyard-digest-keys` lists it: a JSON Web Key (RFC 8037). */
export interface PublishedKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  /** The key's thumbprint (RFC 7638), which digests name. */
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

/** @returns PKCS 8, as PEM */
export function createSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * Reads a private key.
 * @param source its PEM, or the path of a file with it
 * @param name of the variable or option that holds it
 * @throws StartupError, which shows nothing of the key
 */
export function readSigningKey(source: string, name: string): KeyObject {
  const pem = pemOf(source, name);
  return ed25519Of(() => createPrivateKey(pem), name, 'a private key (PKCS 8, PEM)');
}

/**
 * Reads public keys.
 * @param source one PEM or several, or the path of a file with them
 * @param name of the variable or option that holds it
 * @throws StartupError
 */
export function readPublicKeys(source: string, name: string): ReadonlyArray<KeyObject> {
  const blocks = pemOf(source, name).match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  if (blocks.length === 0) throw new StartupError(`${name} holds no public key (SPKI, PEM). ${publicHint}`);
  return blocks.map((pem) => ed25519Of(() => createPublicKey(pem), name, 'public keys (SPKI, PEM)'));
}

export function publicPemOf(key: KeyObject): string {
  return publicHalf(key).export({ type: 'spki', format: 'pem' }).toString();
}

export function publicHalf(key: KeyObject): KeyObject {
  return key.type === 'public' ? key : createPublicKey(key);
}

/** The thumbprint (RFC 7638), which digests name. */
export function keyIdOf(key: KeyObject): string {
  const { crv, kty, x } = publicHalf(key).export({ format: 'jwk' });
  return hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url');
}

export function publishedKey(key: KeyObject): PublishedKey {
  const { x = '' } = publicHalf(key).export({ format: 'jwk' });
  return { kty: 'OKP', crv: 'Ed25519', x, kid: keyIdOf(key), use: 'sig', alg: 'EdDSA' };
}

const hint = 'Make a key with: npm run --silent events -- digest-key > digest-key.pem';
const publicHint =
  'Print the public half of DIGEST_SIGNING_KEY with: npm run --silent events -- digest-key --public > digest-public.pem';

/** A variable may hold a PEM with "\n" instead of line ends. */
function pemOf(source: string, name: string): string {
  if (source.includes('-----BEGIN')) return source.replaceAll('\\n', '\n');
  try {
    return readFileSync(source, 'utf8');
  } catch (error) {
    // The text is not shown, because it may be an incomplete key.
    const code = error instanceof Error && 'code' in error ? error.code : 'it cannot be opened';
    throw new StartupError(`${name} is neither a PEM nor the path of a file that can be read (${code}). ${hint}`);
  }
}

function ed25519Of(read: () => KeyObject, name: string, expected: string): KeyObject {
  let key: KeyObject | null = null;
  try {
    key = read();
  } catch {
    // OpenSSL's message does not help, and may contain a part of the key.
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new StartupError(`${name} must be ${expected} of the kind Ed25519. ${hint}`);
}
