import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as t from 'io-ts';
import { dataFiles } from '#app/files/data-files.ts';
import { isDiskFull } from '#application/operations/unexpected-error.ts';
import type { RecordStore } from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { replaceFileSync } from '#shared/files/replace-file.ts';
import type { Json } from '#shared/json/json.ts';
import { storedFormat } from '#shared/stored-format.ts';
import packageJson from '../../package.json' with { type: 'json' };

export const StoredFormat = t.type({
  /** The number of the format. What was stored before formats had numbers (release 0.3.0 and older) has number 1. */
  format: t.number,
  /** The release that wrote it. */
  writtenBy: t.string,
});

/** The format in which a release stores data. */
type StoredFormat = t.TypeOf<typeof StoredFormat>;

/** The format of this release. */
export const ownFormat: StoredFormat = { format: storedFormat, writtenBy: packageJson.version };

/**
 * Checks that this release knows the format of stored data.
 * @param stored the stored format; null if none is stored, which counts as number 1
 * @param where names the data as the beginning of a sentence, by its folder or its variable
 * @returns the number of the format
 * @throws StartupError if the format is newer, or not a format
 */
export function ensureKnownFormat(stored: unknown, where: string): number {
  if (stored === null) return 1;
  if (!StoredFormat.is(stored)) {
    throw new StartupError(`${where} has a format that cannot be read: restore a backup, or start a newer release.`);
  }
  const { format, writtenBy } = stored;
  if (format <= ownFormat.format) return format;
  throw new StartupError(
    `${where} was written by Switchyard ${writtenBy} (format ${format}, this release ${ownFormat.writtenBy} knows ${ownFormat.format}): start that release or a newer one.`,
  );
}

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
  try {
    replaceFileSync(join(folder, dataFiles.format), `${JSON.stringify(ownFormat)}\n`);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** Returns the stored format; null without one; a text that is not JSON as it is. */
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

const kind = 'format';
const key = 'database';
/** The attempts to record the format next to other nodes, and the time between two. */
const maxAttempts = 20;
const retryMs = 100;

/**
 * Checks that this release knows the format of a shared database. A database without a number counts as written by
 * release 0.3.0 or an older one.
 * @param variable the variable that names the database
 * @returns the number of the format
 * @throws StartupError if a newer release has written the database; UnavailableError
 */
export async function checkDatabaseFormat(records: Pick<RecordStore, 'get'>, variable: string): Promise<number> {
  return ensureKnownFormat(await records.get(kind, key), `The database of ${variable}`);
}

/**
 * Records the format of this release in a shared database, before the release writes anything else there. The number is
 * its own fencing token, so a node of an older release that starts at the same time cannot lower it.
 * @throws StartupError if a newer release has written the database; UnavailableError
 */
export async function recordDatabaseFormat(
  records: Pick<RecordStore, 'get' | 'take' | 'put'>,
  variable: string,
): Promise<void> {
  const fence = ownFormat.format;
  const entries = new Map<string, Json>([[key, ownFormat]]);
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    if ((await checkDatabaseFormat(records, variable)) === ownFormat.format) return;
    try {
      await records.take(kind, fence);
      await records.put(kind, entries, { fence });
      return;
    } catch (error) {
      if (!(error instanceof FencedError)) throw error;
      // Another node of this release that starts at the same time may have been faster.
      await setTimeout(retryMs);
    }
  }
  throw new StartupError(`A newer release is taking over the database of ${variable}: start that release.`);
}
