import type { Readable } from 'node:stream';
import { text as textFrom } from 'node:stream/consumers';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { Digest, DigestPlace } from '#domain/history/digest.ts';
import { digestOf, digestText } from './digest.ts';
import type { HeadsFile } from './heads-file.ts';

export class DigestStore {
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** The newest digest; null without one. @throws UnavailableError; Error for one that cannot be read */
  async newest(): Promise<Digest | null> {
    const chain = await this.lastChain();
    const number = await this.lastNumber(chain);
    return number === 0 ? null : this.read({ chain, number });
  }

  /** The number of the last chain; 0 without one. @throws UnavailableError */
  lastChain(): Promise<number> {
    return lastThat((chain) => this.#exists({ chain, number: 1 }));
  }

  /** The number of the chain's newest digest; 0 without one. @throws UnavailableError */
  lastNumber(chain: number): Promise<number> {
    return lastThat((number) => this.#exists({ chain, number }));
  }

  /** @throws UnavailableError; Error if it is missing or cannot be read */
  async read(place: DigestPlace): Promise<Digest> {
    const content = await this.#blobs.get(digestId(place));
    const digest = content === null ? null : digestOf(await textFrom(content));
    if (digest === null) throw new Error(`Digest ${place.number} of chain ${place.chain} cannot be read.`);
    return digest;
  }

  /** The compressed heads. @throws UnavailableError; Error if they are missing */
  async heads(digest: HeadsPlace): Promise<Readable> {
    const content = (await this.#blobs.get(headsId(digest))) ?? (await this.#blobs.get(earlierHeadsId(digest)));
    if (content === null) throw new Error(`Digest ${digest.number} of chain ${digest.chain} has no file of heads.`);
    return content;
  }

  /** Stores the heads. Call it before the digest is stored. @throws UnavailableError */
  async putHeads(digest: HeadsPlace, { content }: HeadsFile): Promise<void> {
    await this.#blobs.put(headsId(digest), content, Number.MAX_SAFE_INTEGER);
  }

  /**
   * Stores a digest as the newest one, unless another writer has stored one at its place.
   * @returns whether it is stored
   * @throws UnavailableError
   */
  async put(digest: Digest): Promise<boolean> {
    async function* content() {
      yield Buffer.from(digestText(digest));
    }
    await this.#blobs.put(digestId(digest), content(), Number.MAX_SAFE_INTEGER, { keep: 'existing' });
    return (await this.read(digest)).signature === digest.signature;
  }

  async #exists(place: DigestPlace): Promise<boolean> {
    return (await this.#blobs.size(digestId(place))) !== null;
  }
}

function digestId({ chain, number }: DigestPlace): string {
  return `digest-${chain}-${number}`;
}

/** The place of the heads' digest, and the events up to there. */
type HeadsPlace = Pick<Digest, 'chain' | 'number' | 'sequence'>;

const charactersOfSequence = 16;

/**
 * Two writers at one place write different heads only of different events. So neither replaces what the other's digest
 * names.
 */
function headsId(digest: HeadsPlace): string {
  return `${earlierHeadsId(digest)}-${digest.sequence.slice(0, charactersOfSequence)}`;
}

/** The id of heads that releases up to 0.5 have stored. */
function earlierHeadsId(place: DigestPlace): string {
  return `${digestId(place)}-heads`;
}

/** Returns the last number from 1 on that has a property which all numbers before it have; 0 if none has it. */
async function lastThat(holds: (number: number) => Promise<boolean>): Promise<number> {
  let low = 0;
  let high = 1;
  while (await holds(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
