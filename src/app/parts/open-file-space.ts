import type { Config } from '#app/config.ts';
import { freeSpaceOf } from '#app/stores/open-spools.ts';
import { FileSpace } from '#application/files/file-space.ts';
import type { ReadStore } from '#read-store/read-store.ts';

/**
 * Creates the check of space for files: the quota of projects, and the required free space on the disks of this node.
 */
export function openFileSpace(config: Config, documents: Pick<ReadStore, 'get'>): FileSpace {
  const freeSpace = freeSpaceOf(config);
  const { blobStore, dataDir, limits } = config;
  // GridFS uses the disk of the database, which its own operator monitors.
  const hasRoomFor = (bytes: number) =>
    blobStore.kind === 'folder' ? freeSpace.hasRoomFor(blobStore.path, bytes) : freeSpace.hasRoomFor(dataDir, 0);
  return new FileSpace({ documents, quotaBytes: limits.filesQuotaBytes, hasRoomFor });
}
