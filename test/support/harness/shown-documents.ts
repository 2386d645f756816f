import type { ReadStore } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';

/** What answers show of a document. Its position also depends on where the batches of a run ended. */
export type ShownDocument = Pick<StoredDocument, 'id' | 'order' | 'text'>;

/** Returns what answers show of all documents of some collections. */
export function shownDocuments(
  reader: ReadStore,
  collections: ReadonlyArray<string>,
): Promise<ReadonlyArray<ReadonlyArray<ShownDocument>>> {
  return Promise.all(
    collections.map(async (name) => {
      const { documents } = await reader.list(name, {}, { limit: 1000, maxBytes: 1e7 });
      return documents.map(({ id, order, text }) => ({ id, order, text }));
    }),
  );
}
