import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureKnownFormat, ownFormat } from '#app/stored-format.ts';
import { isDiskFull } from '#application/operations/disk-full.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

const fileName = 'format.json';

/**
 * Checks that this release knows the format of a data folder. A folder without a number counts as written by release
 * 0.3.0 or an older one.
 * @returns the number of the format
 * @throws StartupError if a newer release has written the folder, or if its number cannot be read
 */
export function checkFolderFormat(folder: string): number {
  return ensureKnownFormat(storedIn(folder), `The data folder ${folder}`);
}

/**
 * Records the format of this release in a data folder, durably, before the release writes anything else there. On a
 * full disk it writes nothing; then the next start does.
 * @throws StartupError if a newer release has written the folder; Error of the file system
 */
export function recordFolderFormat(folder: string): void {
  if (checkFolderFormat(folder) === ownFormat.format) return;
  const file = join(folder, fileName);
  try {
    writeDurably(`${file}.new`, `${JSON.stringify(ownFormat)}\n`);
    renameSync(`${file}.new`, file);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    rmSync(`${file}.new`, { force: true });
  }
}

function writeDurably(file: string, text: string): void {
  const descriptor = openSync(file, 'w', 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the stored format; null without one; a text that is not JSON as it is. */
function storedIn(folder: string): unknown {
  const text = readIfPresent(join(folder, fileName));
  if (text === null) return null;
  try {
    // A file with the text null is damaged, too.
    return JSON.parse(text) ?? text;
  } catch {
    return text;
  }
}

/** @throws StartupError if the file is there and cannot be read */
function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new StartupError(`${file} cannot be read (${error.message}): make it readable for this user.`);
  }
}
