import type { BlobStore } from '#blob-store/blob-store.ts';
import { batch, partsOf } from '#domain/batch/batch.ts';
import type { BatchEvents } from '#domain/batch/events.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import type { Process } from '#process-engine/process.ts';

/**
 * Removes the parts of an ended batch, whose output and error files contain the same lines. No answer waits for this
 * process.
 */
export function deleteBatchParts(blobs: Pick<BlobStore, 'delete'>): Process {
  return {
    name: 'delete-batch-parts',
    types: ['BatchEnded'],
    handles: () => true,
    concurrency: 1,
    handle: async (event, tools) => {
      const { data } = event as unknown as RecordedEventOf<Pick<BatchEvents, 'BatchEnded'>>;
      const { state } = await tools.load(batch, data.id);
      if (state !== null) for (const { blobId } of partsOf(state)) await blobs.delete(blobId);
    },
  };
}
