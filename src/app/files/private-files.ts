import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Config } from '#app/config.ts';
import { isDiskFull } from '#application/operations/unexpected-error.ts';
import { dataDatabases, dataFiles } from './data-files.ts';
import { resolveStoreFile } from './store-file-lock.ts';

/** Gives other users no permissions on new files and folders. */
const privateUmask = 0o077;

/** Endings that SQLite, a lock and a damaged read store add to the name of a store's file. */
const suffixes = /^(?:-wal|-shm|-journal|\.lock|\.owner\.json|\.set-aside-.*)?$/;

type StoreConfig = Pick<Config, 'dataDir' | 'eventStore' | 'readStore' | 'blobStore'>;

/** Lets only their owner read new files, including those of SQLite. */
export function keepNewFilesPrivate(): void {
  process.umask(privateUmask);
}

/**
 * An operator's copy may have left permissions of other users on files of the embedded stores. It does not change other
 * files, nor the mode of a configured folder.
 * @returns the paths that cannot be changed because another user owns them
 */
export function makeOldFilesPrivate(config: StoreConfig): string[] {
  return ownPathsOf(config).filter((path) => !makePrivate(path));
}

function ownPathsOf({ dataDir, eventStore, readStore, blobStore }: StoreConfig): string[] {
  const named = [eventStore, readStore].flatMap((store) => (store.kind === 'sqlite' ? [store.path] : []));
  const databases = [...named, ...Object.values(dataDatabases).map((name) => join(dataDir, name))];
  const own = [...Object.values(dataFiles), 'blobs'].map((name) => join(dataDir, name));
  // The files in these folders were never readable for others.
  const blobs = blobStore.kind === 'folder' ? ['files', 'unfinished'].map((name) => join(blobStore.path, name)) : [];
  return [...new Set([...databases.flatMap(filesOf), ...own, ...blobs])];
}

function filesOf(database: string): string[] {
  // SQLite keeps them next to the file to which symbolic links lead.
  const file = resolveStoreFile(database);
  const [folder, name] = [dirname(file), basename(file)];
  return readdirSync(folder)
    .filter((entry) => entry.startsWith(name) && suffixes.test(entry.slice(name.length)))
    .map((entry) => join(folder, entry));
}

/** @returns false if the file stays readable for others */
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

/** Enough for the files that SQLite creates before the first read. */
const reserveBytes = 1024 * 1024;

/**
 * Keeps a file in a folder that only reserves space. If the disk is full at a start, the file is removed, so that the
 * embedded stores can open and answer reads. A later start with enough space creates it again.
 * @param freeBytesOf by default it asks the system
 */
export function keepDiskReserve(folder: string, freeBytesOf: (folder: string) => number = systemFreeBytesOf): void {
  const file = join(folder, dataFiles.reserve);
  if (freeBytesOf(folder) < reserveBytes) rmSync(file, { force: true });
  else if (!existsSync(file)) makeReserve(file);
}

function makeReserve(file: string): void {
  try {
    // Zeros would take no space on a volume with compression.
    writeFileSync(file, randomBytes(reserveBytes), { mode: 0o600 });
  } catch (error) {
    rmSync(file, { force: true });
    if (!isDiskFull(error)) throw error;
  }
}

function systemFreeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
