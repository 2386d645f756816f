import { join } from 'node:path';
import type { StoredEvent } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { projections } from '#projections/table.ts';
import type { PageKey, ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';

/** A stored event with its position in the log. */
export type LoggedEvent = StoredEvent & { readonly position: number };

/** Reads the whole log of a stopped service. */
export async function readLog(dataDir: string): Promise<ReadonlyArray<LoggedEvent>> {
  const store = await openSqliteEventStore({ file: join(dataDir, 'events.db') });
  try {
    const events: LoggedEvent[] = [];
    for (;;) {
      const more = store.readRawLog(events.at(-1)?.position ?? 0, 1_000);
      if (more.length === 0) return events;
      events.push(...more);
    }
  } finally {
    await store.close();
  }
}

/** Reads every document of every read model, in the order of lists. The service may run. */
export async function readDocuments(dataDir: string): Promise<Documents> {
  const store = openSqliteReadStore(join(dataDir, 'read.db'));
  try {
    return await everyDocument(store);
  } finally {
    await store.close();
  }
}

/** The documents of every read model, by its name; without their positions, which depend on where batches ended. */
export type Documents = Readonly<Record<string, ReadonlyArray<StoredDocument>>>;

/** Reads every document of every read model from a store, in the order of lists. */
export async function everyDocument(store: ReadStore): Promise<Documents> {
  const collections: Record<string, ReadonlyArray<StoredDocument>> = {};
  for (const { name } of projections) {
    const documents: StoredDocument[] = [];
    let after: PageKey | null | undefined;
    while (after !== null) {
      const page = await store.list(name, {}, { limit: 1_000, maxBytes: 1e8, ...(after && { after }) });
      for (const { id, order, text } of page.documents) documents.push(new StoredDocument(id, order, text, order));
      after = page.next;
    }
    collections[name] = documents;
  }
  return collections;
}
