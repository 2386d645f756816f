import { createHash } from 'node:crypto';

/** The Merkle tree of RFC 9162, section 2.1, built from its leaves in order with one hash kept for each of its levels. */
export class MerkleTree {
  /** Complete subtrees, the largest first: their sizes are the binary digits of the number of leaves. */
  #subtrees: Subtree[] = [];
  #leaves = 0;
  readonly #path: Buffer[] = [];

  get size(): number {
    return this.#leaves;
  }

  /** @param isProven whether `inclusionPath` is that of this leaf; true for at most one leaf */
  add(leaf: string, isProven = false): void {
    this.#leaves += 1;
    let added: Subtree = { leaves: 1, hash: leafHash(leaf), isProven };
    for (let last = this.#subtrees.at(-1); last?.leaves === added.leaves; last = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      added = this.#join(last, added);
    }
    this.#subtrees.push(added);
  }

  /** The tree accepts no leaf after this. */
  root(): Buffer {
    const [smallest, ...others] = this.#subtrees.reverse();
    this.#subtrees = [];
    if (smallest === undefined) return createHash('sha256').digest();
    return others.reduce((right, left) => this.#join(left, right), smallest).hash;
  }

  /** The inclusion proof (RFC 9162, 2.1.3) of the proven leaf. It is complete after the tree has ended. */
  get inclusionPath(): ReadonlyArray<Buffer> {
    return this.#path;
  }

  #join(left: Subtree, right: Subtree): Subtree {
    if (left.isProven) this.#path.push(right.hash);
    if (right.isProven) this.#path.push(left.hash);
    return {
      leaves: left.leaves + right.leaves,
      hash: nodeHash(left.hash, right.hash),
      isProven: left.isProven || right.isProven,
    };
  }
}

interface Subtree {
  readonly leaves: number;
  readonly hash: Buffer;
  readonly isProven: boolean;
}

function leafHash(leaf: string): Buffer {
  return createHash('sha256').update(leafPrefix).update(leaf).digest();
}

function nodeHash(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(nodePrefix).update(left).update(right).digest();
}

const leafPrefix = Buffer.of(0);
const nodePrefix = Buffer.of(1);
