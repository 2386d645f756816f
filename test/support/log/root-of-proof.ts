import { createHash } from 'node:crypto';

/**
 * Computes the root from a leaf and its inclusion proof (RFC 9162, 2.1.3.2).
 * @returns null if no leaf at this index in a tree of this size has such a proof
 */
export function rootOfProof(leaf: string, index: number, size: number, path: ReadonlyArray<Buffer>): Buffer | null {
  if (index >= size) return null;
  let at = index;
  let last = size - 1;
  let hash = leafHash(leaf);
  for (const sibling of path) {
    if (last === 0) return null;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) {
        at /= 2;
        last = Math.floor(last / 2);
      }
    } else hash = nodeHash(hash, sibling);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? hash : null;
}

function leafHash(leaf: string): Buffer {
  return createHash('sha256').update(Buffer.of(0)).update(leaf).digest();
}

function nodeHash(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(Buffer.of(1)).update(left).update(right).digest();
}
