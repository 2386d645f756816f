/** The end of a chain, whose hash depends on all events of the stream. */
export interface ChainHead {
  readonly revision: number;
  readonly hash: string | null;
}

export interface ReadonlyChainHeads {
  readonly size: number;
  get(stream: string): ChainHead | undefined;
  /** The streams in the order in which they were first set. */
  streams(): Iterable<string>;
}

const hashBytes = 32;
const firstCapacity = 1024;
const isHash = (text: string | null): text is string => text !== null && /^[0-9a-f]{64}$/.test(text);

/**
 * The last event of each of many streams. A log of a million events has hundreds of thousands of streams, so hashes are
 * bytes and revisions are numbers in buffers, which the garbage collector does not copy.
 */
export class ChainHeads implements ReadonlyChainHeads {
  readonly #places = new Map<string, number>();
  #hashes = Buffer.allocUnsafe(firstCapacity * hashBytes);
  #revisions = new Float64Array(firstCapacity);
  /** Heads without a SHA-256 in hex: events without a hash, or with a forged one. */
  readonly #others = new Map<number, string | null>();
  /** The stream and head that were set last. Several callers ask for the head of the same event in a row. */
  #last: { readonly stream: string; readonly head: ChainHead } | null = null;

  get size(): number {
    return this.#places.size;
  }

  get(stream: string): ChainHead | undefined {
    if (this.#last?.stream === stream) return this.#last.head;
    const place = this.#places.get(stream);
    if (place === undefined) return undefined;
    const other = this.#others.get(place);
    const hash = other === undefined ? this.#hashAt(place) : other;
    return { revision: this.#revisions[place] ?? -1, hash };
  }

  set(stream: string, head: ChainHead): void {
    const { revision, hash } = head;
    this.#last = { stream, head };
    const place = this.#places.get(stream) ?? this.#newPlace(stream);
    this.#revisions[place] = revision;
    if (isHash(hash)) {
      this.#hashes.write(hash, place * hashBytes, hashBytes, 'hex');
      this.#others.delete(place);
    } else this.#others.set(place, hash);
  }

  streams(): Iterable<string> {
    return this.#places.keys();
  }

  #hashAt(place: number): string {
    return this.#hashes.toString('hex', place * hashBytes, (place + 1) * hashBytes);
  }

  #newPlace(stream: string): number {
    const place = this.#places.size;
    if (place === this.#revisions.length) this.#grow(2 * place);
    this.#places.set(stream, place);
    return place;
  }

  #grow(capacity: number): void {
    const hashes = Buffer.allocUnsafe(capacity * hashBytes);
    this.#hashes.copy(hashes);
    this.#hashes = hashes;
    const revisions = new Float64Array(capacity);
    revisions.set(this.#revisions);
    this.#revisions = revisions;
  }
}
