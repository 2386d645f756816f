import { statSync } from 'node:fs';
import { join } from 'node:path';
import { dataFiles } from '#app/files/data-files.ts';
import { checkFolderFormat } from '#app/files/folder-format.ts';
import { keepDiskReserve } from '#app/files/private-files.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { makeFolder } from '#shared/files/make-folder.ts';
import {
  describeOwner,
  isLocked,
  type LockFiles,
  type LockOwner,
  type OwnedLock,
  readLockOwner,
  takeOwnedLock,
} from './files/owned-lock.ts';

/** The folder of the embedded stores, owned by this process until it is released. */
export interface DataDirectory extends OwnedLock {
  readonly path: string;
}

/**
 * Makes the folder if it does not exist (only its owner can open it), and locks it.
 * @throws StartupError if a running process owns it, if it cannot be made or written, or if a newer or an older release
 * wrote it
 */
export function openDataDirectory(path: string): DataDirectory {
  const files = lockFilesOf(path);
  const lock = usable(path, () => {
    makeFolder(path);
    return takeOwnedLock(files, () => {
      checkFolderFormat(path);
      keepDiskReserve(path);
    });
  });
  if (lock === null) throw new StartupError(`${path} is in use by ${describeOwner(files)}; stop it, or set DATA_DIR.`);
  return { path, ...lock };
}

/**
 * Finds the owner, to which tools can send requests.
 * @returns null if none runs, or if the folder does not exist
 * @throws StartupError if the folder cannot be read, or if its owner has not written its address yet
 */
export function runningOwner(path: string): LockOwner | null {
  const files = lockFilesOf(path);
  if (statSync(files.lock, { throwIfNoEntry: false }) === undefined) return null;
  if (!usable(path, () => isLocked(files))) return null;
  const owner = readLockOwner(files);
  if (owner === null) throw new StartupError(`${path} is in use by another process; try again when it has started.`);
  return owner;
}

/** The recorded owner, whether or not it still runs; null without one. Does not touch the lock. */
export function announcedOwner(path: string): LockOwner | null {
  return readLockOwner(lockFilesOf(path));
}

function lockFilesOf(path: string): LockFiles {
  return { lock: join(path, dataFiles.lock), owner: join(path, dataFiles.owner) };
}

/** Throws a StartupError instead of errors of the file system and of SQLite. */
function usable<Result>(path: string, use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(`${path} cannot be used as the data folder (${reason}); set DATA_DIR to another.`, {
      cause: error,
    });
  }
}
