import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StartupError } from '#shared/errors/startup-error.ts';
import { describeOwner, type LockFiles, type OwnedLock, readLockOwner, takeOwnedLock } from './owned-lock.ts';

/**
 * The file may be in any folder, and symbolic links are followed.
 * @param file which need not exist; its folder must exist
 * @param variable configures the file
 * @throws StartupError if another process or another store has the file, if it has hard links, or if its folder is not
 * writable
 */
export function lockStoreFile(file: string, variable: string): Pick<OwnedLock, 'release'> {
  const target = usable(file, variable, () => resolveStoreFile(file));
  refuseHardLinks(target, variable);
  const files: LockFiles = { lock: `${target}.lock`, owner: `${target}.owner.json` };
  const lock = usable(file, variable, () => takeOwnedLock(files));
  if (lock !== null) return lock;
  throw new StartupError(`${file} is in use by ${holderOf(files)}; stop it, or set ${variable} to another file.`);
}

function holderOf(files: LockFiles): string {
  return readLockOwner(files)?.pid === process.pid
    ? `process ${process.pid}, this one, as another store`
    : describeOwner(files);
}

/** The file need not exist. @throws Error if the folder is missing, or if links form a loop */
export function resolveStoreFile(file: string): string {
  const path = join(realpathSync(dirname(file)), basename(file));
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink) return path;
  return statSync(path, { throwIfNoEntry: false }) === undefined
    ? resolveStoreFile(resolve(dirname(path), readlinkSync(path)))
    : realpathSync(path);
}

/**
 * SQLite would keep a write-ahead log for each: https://sqlite.org/howtocorrupt.html#_multiple_links_to_the_same_file
 */
function refuseHardLinks(file: string, variable: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.nlink <= 1) return;
  throw new StartupError(
    `${file} has ${stats.nlink} names (hard links), by which two processes could write to it; remove the others, or set ${variable} to another file.`,
  );
}

/** Throws a StartupError in place of the errors of the file system and of SQLite. */
function usable<Result>(file: string, variable: string, use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(
      `${file} cannot be opened (${reason}); check that its folder exists and may be written, or set ${variable} to another file.`,
      { cause: error },
    );
  }
}
