import type { BlobStore } from '#src/blob-store/blob-store.ts';
import { openFolderBlobStore } from '#src/blob-store/folder-blob-store.ts';
import type { Config } from './config.ts';
import { ofVariable, StartFailure } from './start-failure.ts';
import { Unavailable } from './unavailable.ts';

/**
 * Opens the blob store that the configuration names. MongoDB is connected to at the first call.
 * @throws StartFailure
 */
export async function openBlobStore({ blobStore }: Pick<Config, 'blobStore'>): Promise<BlobStore> {
  if (blobStore.kind === 'gridfs') {
    const { openGridFsBlobStore } = await import('#src/blob-store/gridfs-blob-store.ts');
    return ofVariable('BLOB_STORE_URL', () => openGridFsBlobStore({ url: blobStore.url }));
  }
  try {
    return await openFolderBlobStore(blobStore.path);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    throw new StartFailure(`BLOB_STORE_URL: ${blobStore.path} cannot be used. ${error.message}`);
  }
}
