import * as E from 'fp-ts/lib/Either.js';
import type { FileEvents } from '#domain/file/events.ts';
import { file } from '#domain/file/file.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import type { StoreEvents } from '#domain/store/events.ts';
import { store, storeFileRemoved } from '#domain/store/store.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';
import { paginateAll } from '#read-store/paginate-all.ts';

type Event = RecordedEventOf<Pick<FileEvents, 'FileDeleted'> & Pick<StoreEvents, 'StoreFileAdded'>>;

/**
 * Removes deleted files from stores. A file may be added while it is being deleted. The reaction to the deletion finds
 * stores that had the file before. The reaction to a later addition finds that the file is deleted.
 */
export const removeStoreFiles: Process = {
  name: 'remove-store-files',
  types: ['FileDeleted', 'StoreFileAdded'],
  handles: () => true,
  handle: async (recorded, tools) => {
    const event = recorded as unknown as Event;
    if (event.type === 'FileDeleted') return removeFromAll(event.data.id, tools);
    const { id, fileId } = event.data;
    const { state } = await tools.load(file, fileId);
    if (state === null || state.deleted) await removeFrom(id, fileId, tools);
  },
};

async function removeFromAll(fileId: string, tools: ProcessTools): Promise<void> {
  const documents = await tools.documentsUpToDate('store-files');
  for await (const page of paginateAll(documents, 'store-files', { fileId })) {
    for (const { value } of page) await removeFrom((value as unknown as { storeId: string }).storeId, fileId, tools);
  }
}

function removeFrom(id: string, fileId: string, { write }: ProcessTools): Promise<void> {
  const reason = 'file-deleted' as const;
  return write({
    entity: store,
    id,
    decide: ({ state }) => E.right({ events: storeFileRemoved({ id, fileId, reason }, state), tenant: null }),
  });
}
