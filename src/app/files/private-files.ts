import { chmodSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Config } from '#app/config.ts';
import { resolveStoreFile } from './store-file-lock.ts';

/** Takes every permission of a new file or folder from all but its owner. */
const privateUmask = 0o077;

/** What SQLite, a lock and a damaged read store add to a store file's name. */
const suffixes = /^(?:-wal|-shm|-journal|\.lock|\.owner\.json|\.set-aside-.*)?$/;

type StoreConfig = Pick<Config, 'dataDir' | 'eventStore' | 'readStore' | 'blobStore'>;

/** Makes every file and folder that this process makes from now on readable by its owner alone, SQLite's included. */
export function keepNewFilesPrivate(): void {
  process.umask(privateUmask);
}

/**
 * Takes the permissions of others from what an earlier release, or an operator's copy, left in the folders of the
 * embedded stores. What others put there is left alone, and so is the mode of a folder that was given.
 * @returns the paths that may not be changed, because another user owns them
 */
export function makeOldFilesPrivate(config: StoreConfig): string[] {
  return ownPathsOf(config).filter((path) => !makePrivate(path));
}

function ownPathsOf({ dataDir, eventStore, readStore, blobStore }: StoreConfig): string[] {
  const named = [eventStore, readStore].flatMap((store) => (store.kind === 'sqlite' ? [store.path] : []));
  const databases = [
    ...named,
    join(dataDir, 'subject-keys.db'),
    join(dataDir, 'processes.db'),
    join(dataDir, 'webhook-deliveries.db'),
  ];
  const own = ['lock.sqlite', 'owner.json', 'reserve', 'blobs'].map((name) => join(dataDir, name));
  // The files in them were never readable by others.
  const blobs = blobStore.kind === 'folder' ? ['files', 'unfinished'].map((name) => join(blobStore.path, name)) : [];
  return [...new Set([...databases.flatMap(filesOf), ...own, ...blobs])];
}

/** A database's file and those that belong to it. */
function filesOf(database: string): string[] {
  // SQLite keeps them beside the file that symbolic links lead to.
  const file = resolveStoreFile(database);
  const [folder, name] = [dirname(file), basename(file)];
  return readdirSync(folder)
    .filter((entry) => entry.startsWith(name) && suffixes.test(entry.slice(name.length)))
    .map((entry) => join(folder, entry));
}

/** @returns false where the file stays open to others */
function makePrivate(path: string): boolean {
  try {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & privateUmask) === 0) return true;
    chmodSync(path, mode & 0o7777 & ~privateUmask);
    return true;
  } catch {
    return false;
  }
}
