import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureKnownFormat, ownFormat } from '#app/stored-format.ts';
import { isDiskFull } from '#application/operations/unexpected-error.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { replaceFileSync } from '#shared/files/replace-file.ts';
import { olderDataError } from '#shared/stored-format.ts';
import { dataDatabases, dataFiles } from './data-files.ts';

/** A file of release 0.3.0 and older ones, which had no records. */
const oldProcesses = 'processes.db';

/**
 * A folder without a number is new, holds what a tool has made, or is of a release that stored none. An event store has
 * its own number, so a copy of its file alone is checked with it.
 * @returns the number of the format; null without one
 * @throws StartupError if a newer or an older release has written the folder, or if its number cannot be read
 */
export function checkFolderFormat(folder: string): number | null {
  const where = `The data folder ${folder}`;
  const stored = storedIn(folder);
  if (stored !== null) return ensureKnownFormat(stored, where);
  const isOld = existsSync(join(folder, oldProcesses)) && !existsSync(join(folder, dataDatabases.records));
  if (isOld) throw olderDataError(where, '0.3.0 or an older release');
  return null;
}

/**
 * Records the number durably. On a full disk it writes nothing; then the next start does.
 * @throws StartupError if another release has written the folder; Error of the file system
 */
export function recordFolderFormat(folder: string): void {
  if (checkFolderFormat(folder) === ownFormat.format) return;
  try {
    replaceFileSync(join(folder, dataFiles.format), `${JSON.stringify(ownFormat)}\n`);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** The stored value; null without one; a text that is not JSON as it is. */
function storedIn(folder: string): unknown {
  const text = readIfPresent(join(folder, dataFiles.format));
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
