import { dirname } from 'node:path';
import { checkFolderFormat } from '#app/files/folder-format.ts';
import type { BlobStoreConfig } from '#app/store-config.ts';
import { openFolderBlobStoreBeside } from '#blob-store/blob-store.folder.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';

/**
 * A service may have it open, so nothing is cleared up.
 * @throws StartupError if a newer or an older release has written the folder or the database that it is in;
 * UnavailableError
 */
export async function openBlobsBeside(config: BlobStoreConfig): Promise<BlobStore> {
  if (config.kind === 'folder') {
    checkFolderFormat(dirname(config.path));
    return openFolderBlobStoreBeside(config.path);
  }
  const { checkFormatOfDatabase } = await import('./database-format.ts');
  await checkFormatOfDatabase(config.url, 'BLOB_STORE_URL');
  const { openGridFsBlobStore } = await import('#blob-store/blob-store.gridfs.ts');
  return openGridFsBlobStore({ url: config.url });
}
