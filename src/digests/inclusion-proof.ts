import type { InclusionProof } from '#domain/history/digest.ts';
import { SerialTurns } from '#shared/async/serial-turns.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { headsAsOf } from './current-heads.ts';
import { leafOf } from './digest.ts';
import type { DigestStore } from './digest-store.ts';
import { MerkleTree } from './merkle-tree.ts';

/** Each proof reads the heads of all streams. */
const maxWaiting = 16;
/** Time limit of a proof: far longer than the heads of a large log take. */
const maxProofMs = 600_000;

/** Proves one stream after the other. */
export class InclusionProofs {
  readonly #store: DigestStore;
  #waiting = 0;
  readonly #turns = new SerialTurns('A proof', maxProofMs);

  constructor(store: DigestStore) {
    this.#store = store;
  }

  /**
   * Proves that a stream is in the newest digest.
   * @returns null without a digest that contains the stream
   * @throws UnavailableError, also for too many requests; DigestRefusedError for files that were altered
   */
  async prove(stream: string): Promise<InclusionProof | null> {
    if (this.#waiting >= maxWaiting) throw new UnavailableError('Too many proofs are asked for at once.', 5);
    this.#waiting += 1;
    try {
      return await this.#turns.run((guard) => proveInclusion(guard(this.#store), stream));
    } finally {
      this.#waiting -= 1;
    }
  }
}

async function proveInclusion(store: DigestStore, stream: string): Promise<InclusionProof | null> {
  const digest = await store.newest();
  if (digest === null) return null;
  const tree = new MerkleTree();
  let found: Pick<InclusionProof, 'head' | 'index'> | null = null;
  for await (const head of headsAsOf(store, digest)) {
    if (head.stream === stream) found = { head, index: tree.size };
    tree.add(leafOf(head), head.stream === stream);
  }
  if (found === null) return null;
  tree.root();
  return { digest, ...found, path: tree.inclusionPath.map((hash) => hash.toString('hex')) };
}
