import type { Config } from '#app/config.ts';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { limited } from './limited.ts';
import type { MongoDbConnections } from './mongodb-connections.ts';
import { blobLimits } from './port-limits.ts';

/** It connects to MongoDB at the first call. @throws StartupError */
export async function openBlobStore(
  { blobStore }: Pick<Config, 'blobStore'>,
  mongoDb: MongoDbConnections,
): Promise<BlobStore> {
  if (blobStore.kind === 'gridfs') {
    const { openGridFsBlobStore } = await import('#blob-store/blob-store.gridfs.ts');
    const connection = await mongoDb.to(blobStore.url, 'BLOB_STORE_URL', 'blobs');
    return limited(openGridFsBlobStore({ connection }), blobLimits);
  }
  try {
    return limited(await openFolderBlobStore(blobStore.path), blobLimits);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    throw new StartupError(`BLOB_STORE_URL: ${blobStore.path} cannot be used. ${error.message}`);
  }
}
