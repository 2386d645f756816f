import type { Config } from '#app/config.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { openFolderBlobStore } from '#blob-store/folder/folder-blob-store.ts';
import { StartupError, withVariableName } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/**
 * Opens the blob store that the configuration names. MongoDB is connected to at the first call.
 * @throws StartupError
 */
export async function openBlobStore({ blobStore }: Pick<Config, 'blobStore'>): Promise<BlobStore> {
  if (blobStore.kind === 'gridfs') {
    const { openGridFsBlobStore } = await import('#blob-store/gridfs/gridfs-blob-store.ts');
    return withVariableName('BLOB_STORE_URL', () => openGridFsBlobStore({ url: blobStore.url }));
  }
  try {
    return await openFolderBlobStore(blobStore.path);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    throw new StartupError(`BLOB_STORE_URL: ${blobStore.path} cannot be used. ${error.message}`);
  }
}
