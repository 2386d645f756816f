import type { Config } from '#app/config.ts';
import { freeSpaceOf } from '#app/stores/open-spools.ts';
import { FileSpace } from '#application/files/file-space.ts';
import type { ReadStore } from '#read-store/read-store.ts';

/** Judges the room for files: the quota of projects, and what must stay free on the disks that this node writes to. */
export function openFileSpace(config: Config, documents: Pick<ReadStore, 'get'>): FileSpace {
  const freeSpace = freeSpaceOf(config);
  const { blobStore, dataDir, limits } = config;
  // What goes into GridFS takes room of the database's disk, which its own operator watches.
  const hasRoomFor = (bytes: number) =>
    blobStore.kind === 'folder' ? freeSpace.hasRoomFor(blobStore.path, bytes) : freeSpace.hasRoomFor(dataDir, 0);
  return new FileSpace({ documents, quotaBytes: limits.filesQuotaBytes, hasRoomFor });
}
