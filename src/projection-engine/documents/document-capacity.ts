/** How many documents a buffer keeps in memory between two commits. */
export interface DocumentCapacityLimits {
  readonly maxDocuments: number;
  /** How many it keeps at first, until it often needs documents that it did not keep. Default `maxDocuments`. */
  readonly firstDocuments?: number;
}

/** The capacity grows when the store was read for more than one in `usesPerRead` used documents. */
const usesPerRead = 20;

/**
 * The number of documents that a buffer keeps. It doubles while keeping more would save reads: events of most read
 * models touch the newest documents, and older ones would only take memory.
 */
export class DocumentCapacity {
  readonly #maxDocuments: number;
  #documents: number;
  #reads = 0;

  constructor({ maxDocuments, firstDocuments = maxDocuments }: DocumentCapacityLimits) {
    this.#maxDocuments = maxDocuments;
    this.#documents = firstDocuments;
  }

  get documents(): number {
    return this.#documents;
  }

  /** Must be called for each document that is read from the store. */
  noteRead(): void {
    this.#reads += 1;
  }

  /** Must be called at each commit. @param uses how many documents events have touched since the last one */
  adapt(uses: number): void {
    if (this.#reads * usesPerRead > uses) this.#documents = Math.min(2 * this.#documents, this.#maxDocuments);
    this.#reads = 0;
  }
}
