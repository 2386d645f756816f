import { LRUCache } from 'lru-cache';
import type { DocumentValue } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';

/** A document of any type: who asks knows which. */
type KeptDocument = Pick<StoredDocument, 'id' | 'text'>;

/**
 * Documents read since the read models last moved. A point read takes the file's locks, which costs more than finding
 * the row; a reader that learns of each commit can spare most of that while nothing is written.
 */
export class DocumentCache {
  readonly #documents: LRUCache<string, KeptDocument>;

  /** @param maxCharacters of JSON text held at most; what was not used for longest makes room */
  constructor(maxCharacters = 16 * 1024 * 1024) {
    this.#documents = new LRUCache({ maxSize: maxCharacters, sizeCalculation: ({ text }) => text.length });
  }

  get<Value extends DocumentValue>(collection: string, id: string): StoredDocument<Value> | undefined {
    return this.#documents.get(keyOf(collection, id)) as StoredDocument<Value> | undefined;
  }

  /** Keeps a document, unless it is larger than the cache. */
  keep(collection: string, document: KeptDocument): void {
    this.#documents.set(keyOf(collection, document.id), document);
  }

  /** Forgets everything: the read models have moved. */
  clear(): void {
    if (this.#documents.size > 0) this.#documents.clear();
  }
}

const keyOf = (collection: string, id: string) => `${collection} ${id}`;
