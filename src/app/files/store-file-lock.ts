import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StartupError } from '#shared/errors/startup-error.ts';
import { describeOwner, type LockFiles, type OwnedLock, ownerOf, takeOwnedLock } from './owned-lock.ts';

/**
 * Takes a store's SQLite file for this process, whichever folder it is in and by whichever symbolic links it is named.
 * @param file path of the SQLite file, which need not exist; its folder does
 * @param variable names the file for whoever configures the service
 * @throws StartupError when another process or another store has it, when it has several names (hard links), and when
 * its folder cannot be written to
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
  return ownerOf(files)?.pid === process.pid
    ? `process ${process.pid}, this one, as another store`
    : describeOwner(files);
}

/** The file that a path leads to by symbolic links, whether or not it exists. @throws Error without a folder, for loops */
export function resolveStoreFile(file: string): string {
  const path = join(realpathSync(dirname(file)), basename(file));
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink) return path;
  return statSync(path, { throwIfNoEntry: false }) === undefined
    ? resolveStoreFile(resolve(dirname(path), readlinkSync(path)))
    : realpathSync(path);
}

/** SQLite keeps a write-ahead log for each name of a file: https://sqlite.org/howtocorrupt.html#_multiple_links_to_the_same_file */
function refuseHardLinks(file: string, variable: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.nlink <= 1) return;
  throw new StartupError(
    `${file} has ${stats.nlink} names (hard links), by which two processes could write to it; remove the others, or set ${variable} to another file.`,
  );
}

/** @throws StartupError in place of the errors of the file system and of SQLite */
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
