import { LRUCache } from 'lru-cache';
import type { DocumentValue } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';

/** A document of any type. The caller knows the type. */
type KeptDocument = Pick<StoredDocument, 'id' | 'text'>;

/**
 * The documents that were read since the last commit of the read models. A read takes locks of the file, which costs
 * more than finding the row. A reader that is notified of each commit can avoid most reads while nothing is written.
 */
export class DocumentCache {
  readonly #documents: LRUCache<string, KeptDocument>;

  /** @param maxCharacters the most characters of JSON in the cache; the least recently used documents are evicted */
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
