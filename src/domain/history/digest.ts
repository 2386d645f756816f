import * as t from 'io-ts';
import { enumeration } from '#shared/codecs/choice.ts';

/** Chains count from 1, and so do the digests of a chain. */
const Place = t.type({ chain: t.number, number: t.number });

const PreviousDigest = t.intersection([Place, t.type({ hash: t.string })]);

/** What a digest states about the log. All hashes are SHA-256 in hex. */
export const DigestStatement = t.type({
  chain: t.number,
  number: t.number,
  time: t.string,
  /** The number of events in the chained streams. */
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
  /** That file has all heads, or those that changed since the digest before. */
  headsOf: enumeration('DigestHeads', 'all', 'changed'),
  /** The digest before; null for the first of all. A chain's first names the last of the chain before. */
  previous: t.union([PreviousDigest, t.null]),
  /** The id of the key that has signed the digest. */
  key: t.string,
});

export type DigestStatement = Readonly<t.TypeOf<typeof DigestStatement>>;

export const Digest = t.intersection(
  [
    DigestStatement,
    /** The Ed25519 signature over the canonical JSON (RFC 8785) of the other members, in base64url. */
    t.type({ signature: t.string }),
  ],
  'Digest',
);

export type Digest = Readonly<t.TypeOf<typeof Digest>>;

export type DigestPlace = Readonly<t.TypeOf<typeof Place>>;

/** The last event of a stream. Its hash covers all events of the stream. */
export const StreamHead = t.type({ hash: t.string, revision: t.number, stream: t.string });

export type StreamHead = Readonly<t.TypeOf<typeof StreamHead>>;

/** A proof that a digest contains a stream's head (RFC 9162, 2.1.3). */
export const InclusionProof = t.type(
  {
    digest: Digest,
    /** The leaf is its canonical JSON (RFC 8785). */
    head: StreamHead,
    /** The index of the leaf, from 0. */
    index: t.number,
    /** Hashes in hex, from the leaf's sibling up. */
    path: t.readonlyArray(t.string),
  },
  'InclusionProof',
);

export type InclusionProof = Readonly<t.TypeOf<typeof InclusionProof>>;

export const exampleDigest: Digest = {
  chain: 1,
  number: 12,
  time: '2026-01-05T09:30:00.000Z',
  events: 4211,
  lastEvent: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61',
  position: 4873,
  positionBefore: 4872,
  sequence: '5f'.repeat(32),
  streams: 318,
  root: 'a1'.repeat(32),
  headsHash: '3c'.repeat(32),
  headsOf: 'changed',
  previous: { chain: 1, number: 11, hash: '9d'.repeat(32) },
  key: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  signature: 'b3'.repeat(43),
};
