import type { Config } from '#app/config.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { openFolderBlobStore } from '#blob-store/folder/folder-blob-store.ts';
import { StartupError, withVariableName } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { MongoDbAvailabilities } from './mongodb-availabilities.ts';

/** Opens the configured blob store. It connects to MongoDB at the first call. @throws StartupError */
export async function openBlobStore(
  { blobStore }: Pick<Config, 'blobStore'>,
  mongoDb: MongoDbAvailabilities,
): Promise<BlobStore> {
  if (blobStore.kind === 'gridfs') {
    const { openGridFsBlobStore } = await import('#blob-store/gridfs/gridfs-blob-store.ts');
    const { url } = blobStore;
    const availability = await mongoDb.at(url, 'BLOB_STORE_URL');
    return withVariableName('BLOB_STORE_URL', () => openGridFsBlobStore({ url, availability }));
  }
  try {
    return await openFolderBlobStore(blobStore.path);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    throw new StartupError(`BLOB_STORE_URL: ${blobStore.path} cannot be used. ${error.message}`);
  }
}
