import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '#app/config.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { SpoolFolder } from '#gateway/audio/spool-folder.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { FreeSpace } from '#shared/files/free-space.ts';
import { makeFolder } from '#shared/files/make-folder.ts';

/**
 * Opens spools for uploads that are too large for memory. Creates the folder if it does not exist.
 * @throws StartupError if it is not writable
 */
export function openSpools(config: Config, budget: ByteBudget, metrics: Metrics): SpoolFolder {
  const { spoolDir } = config;
  try {
    makeFolder(spoolDir);
    accessSync(spoolDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartupError(`SPOOL_DIR: ${spoolDir} cannot be written to (${error}): name another folder.`);
  }
  metrics.watchGauge('switchyard_spool_bytes', 'Bytes that uploads hold in files', () => budget.bytes);
  return new SpoolFolder({ folder: spoolDir, budget, freeSpace: freeSpaceOf(config) });
}

/** Finds the free space of all volumes that this node writes to: those of spools, files and embedded stores. */
export function freeSpaceOf({ spoolDir, dataDir, blobStore, eventStore, readStore, limits }: Config): FreeSpace {
  const stores = [eventStore, readStore].flatMap((store) => (store.kind === 'sqlite' ? [dirname(store.path)] : []));
  const blobs = blobStore.kind === 'folder' ? [blobStore.path] : [];
  return new FreeSpace({ folders: [spoolDir, dataDir, ...stores, ...blobs], minFreeBytes: limits.minFreeBytes });
}
