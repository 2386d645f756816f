import { hash, type KeyObject, sign, verify } from 'node:crypto';
import * as t from 'io-ts';
import { canonicalJson } from '#shared/json/canonical-json.ts';
import { keyIdOf } from './digest-keys.ts';

/** The place of a digest. Chains count from 1, and so do the digests of a chain. */
const Place = t.type({ chain: t.number, number: t.number });

const PreviousDigest = t.intersection([Place, t.type({ hash: t.string })]);

/** The statement of a digest about the log. All hashes are SHA-256 in hex. */
export const DigestStatement = t.type({
  chain: t.number,
  number: t.number,
  time: t.string,
  /** The number of events of the chained streams. */
  events: t.number,
  /** The id of the last of these events. */
  lastEvent: t.string,
  /** The position of that event in the log, in the store that it was on. */
  position: t.number,
  /** The position of the event of any stream before it; 0 for the log's first event. */
  positionBefore: t.number,
  /** The order of all these events: `sequenceAfter`, from the first event on. */
  sequence: t.string,
  /** The number of chained streams: the size of the Merkle tree. */
  streams: t.number,
  /** The root of the Merkle tree (RFC 9162) over the heads of all chained streams. */
  root: t.string,
  /** The hash of its file of heads, uncompressed. */
  headsHash: t.string,
  /** Whether that file has all heads; else it has those that changed since the digest before. */
  headsOf: t.union([t.literal('all'), t.literal('changed')]),
  /** The digest before; null for the first of all. A chain's first names the last of the chain before. */
  previous: t.union([PreviousDigest, t.null]),
  /** The id of the key that signed it. */
  key: t.string,
});

export type DigestStatement = Readonly<t.TypeOf<typeof DigestStatement>>;

/** A signed digest. */
export const Digest = t.intersection(
  [
    DigestStatement,
    /** Ed25519 over the canonical JSON (RFC 8785) of the other members, in base64url. */
    t.type({ signature: t.string }),
  ],
  'Digest',
);

export type Digest = Readonly<t.TypeOf<typeof Digest>>;

export type DigestPlace = Readonly<t.TypeOf<typeof Place>>;

/** The sequence before the first event. */
export const emptySequence = '0'.repeat(64);

/**
 * Returns the hash of an order of events after one more event: over the texts of the hash before and of the event's
 * hash.
 */
export function sequenceAfter(before: string, eventHash: string): string {
  return hash('sha256', before + eventHash);
}

/** Signs a statement. @param key the private key, Ed25519 */
export function signDigest(statement: Omit<DigestStatement, 'key'>, key: KeyObject): Digest {
  const signed = { ...statement, key: keyIdOf(key) };
  return { ...signed, signature: sign(null, signedText(signed), key).toString('base64url') };
}

/** Whether the key signed the digest. @param key the public key, Ed25519 */
export function isSignedBy({ signature, ...statement }: Digest, key: KeyObject): boolean {
  return verify(null, signedText(statement), key, Buffer.from(signature, 'base64url'));
}

/** Returns a digest as it is stored: canonical JSON. */
export function textOf(digest: Digest): string {
  return canonicalJson(digest);
}

/** Reads a text of `textOf`. @returns null for any other text */
export function digestOf(text: string): Digest | null {
  try {
    const digest: unknown = JSON.parse(text);
    return Digest.is(digest) && textOf(digest) === text ? digest : null;
  } catch {
    return null;
  }
}

/** Returns the hash by which the next digest names this one. */
export function referenceTo(digest: Digest): NonNullable<Digest['previous']> {
  const { chain, number } = digest;
  return { chain, number, hash: hash('sha256', textOf(digest)) };
}

/** The order of digests: by chain, then by number. */
export function comparePlaces(one: DigestPlace, other: DigestPlace): number {
  return one.chain - other.chain || one.number - other.number;
}

function signedText(statement: object): Buffer {
  return Buffer.from(canonicalJson(statement));
}

/** A digest cannot be made, and an operator must act. The message says how. */
export class DigestRefusedError extends Error {
  override readonly name = 'DigestRefusedError';
}
