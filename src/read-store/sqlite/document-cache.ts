import type { StoredDocument } from '#read-store/read-store.ts';

/**
 * Documents read since the read models last moved. A point read takes the file's locks, which costs more than finding
 * the row; whoever is told of each commit can spare most of that while nothing is written.
 */
export class DocumentCache {
  readonly #documents = new Map<string, StoredDocument>();
  readonly #maxCharacters: number;
  #characters = 0;

  /** @param maxCharacters of JSON text held at most; when it is full, it begins anew */
  constructor(maxCharacters = 16 * 1024 * 1024) {
    this.#maxCharacters = maxCharacters;
  }

  get(collection: string, id: string): StoredDocument | undefined {
    return this.#documents.get(keyOf(collection, id));
  }

  /** @param characters the length of its JSON text */
  keep(collection: string, document: StoredDocument, characters: number): void {
    if (this.#characters + characters > this.#maxCharacters) this.clear();
    if (characters > this.#maxCharacters) return;
    this.#documents.set(keyOf(collection, document.id), document);
    this.#characters += characters;
  }

  /** Forgets everything: the read models have moved. */
  clear(): void {
    if (this.#documents.size === 0) return;
    this.#documents.clear();
    this.#characters = 0;
  }
}

const keyOf = (collection: string, id: string) => `${collection} ${id}`;
