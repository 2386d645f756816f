import type { BlobStore } from '#blob-store/blob-store.ts';
import type { FileEvents } from '#domain/file/events.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import type { Process } from '#process-engine/process.ts';

const maxDeletionsAtOnce = 4;

/** Removes the bytes of deleted and expired files. No answer waits for this process. */
export function deleteFileContents(blobs: Pick<BlobStore, 'delete'>): Process {
  return {
    name: 'delete-file-contents',
    types: ['FileDeleted'],
    handles: () => true,
    concurrency: maxDeletionsAtOnce,
    handle: async (event) => {
      const { data } = event as unknown as RecordedEventOf<Pick<FileEvents, 'FileDeleted'>>;
      await blobs.delete(data.blobId);
    },
  };
}
