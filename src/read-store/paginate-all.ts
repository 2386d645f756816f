import type { DocumentValue, PageKey, ReadStore, Where } from './read-store.ts';
import type { StoredDocument } from './stored-document.ts';

const pageItems = 500;
const pageBytes = 4 * 1024 * 1024;

/** Reads all documents page by page, so that not all of them are in memory at the same time. */
export async function* paginateAll<Value extends DocumentValue>(
  documents: ReadStore,
  collection: string,
  where: Where,
): AsyncGenerator<ReadonlyArray<StoredDocument<Value>>> {
  let after: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof documents.list<Value>>> = await documents.list<Value>(collection, where, {
      limit: pageItems,
      maxBytes: pageBytes,
      ...(after === null ? {} : { after }),
    });
    yield page.documents;
    after = page.next;
  } while (after !== null);
}
