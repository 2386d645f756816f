import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { Digest, type DigestPlace, type DigestStatement, StreamHead } from '#domain/history/digest.ts';
import type { ReadonlyChainHeads } from '#event-store/chain-heads.ts';
import { canonicalJson } from '#shared/json/json.ts';
import { keyIdOf } from './digest-keys.ts';

export const emptySequence = '0'.repeat(64);

/** The hash of an order of events after one more event: over the texts of the hash before and of the event's hash. */
export function sequenceAfter(before: string, eventHash: string): string {
  return hash('sha256', before + eventHash);
}

/** @param key the private key, Ed25519 */
export function signDigest(statement: Omit<DigestStatement, 'key'>, key: KeyObject): Digest {
  const signed = { ...statement, key: keyIdOf(key) };
  return { ...signed, signature: sign(null, signedText(signed), key).toString('base64url') };
}

/** @param key the public key, Ed25519 */
export function isSignedBy({ signature, ...statement }: Digest, key: KeyObject): boolean {
  return verify(null, signedText(statement), key, Buffer.from(signature, 'base64url'));
}

/** The digest as canonical JSON, as it is stored. */
export function digestText(digest: Digest): string {
  return canonicalJson(digest);
}

/** @returns null for any text but one of `digestText` */
export function digestOf(text: string): Digest | null {
  try {
    const digest: unknown = JSON.parse(text);
    return Digest.is(digest) && digestText(digest) === text ? digest : null;
  } catch {
    return null;
  }
}

/** What the next digest names this one by. */
export function digestReference(digest: Digest): NonNullable<Digest['previous']> {
  const { chain, number } = digest;
  return { chain, number, hash: hash('sha256', digestText(digest)) };
}

export function comparePlaces(one: DigestPlace, other: DigestPlace): number {
  return one.chain - other.chain || one.number - other.number;
}

function signedText(statement: object): Buffer {
  return Buffer.from(canonicalJson(statement));
}

/** An operator must act before another digest is written. The message says how. */
export class DigestRefusedError extends Error {
  override readonly name = 'DigestRefusedError';
}

/** A head as a leaf of the Merkle tree and as a line of a file, without the line's end: canonical JSON (RFC 8785). */
export function leafOf({ hash, revision, stream }: StreamHead): string {
  return canonicalJson({ hash, revision, stream });
}

/** @throws SyntaxError or TypeError for any line but one of `leafOf` */
export function headOfLine(line: string): StreamHead {
  const head: unknown = JSON.parse(line);
  if (!StreamHead.is(head)) throw new TypeError('It is not a head of a stream.');
  return head;
}

/** The streams by the code units of their names, as RFC 8785 orders names. Files and the tree have this order. */
export function sortedStreams(heads: ReadonlyChainHeads): ReadonlyArray<string> {
  return [...heads.streams()].sort();
}
