import * as t from 'io-ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { olderDataError, oldestFormat, storedFormat } from '#shared/stored-format.ts';
import packageJson from '../../package.json' with { type: 'json' };

export const StoredFormat = t.type({
  format: t.number,
  /** The release that wrote the data. */
  writtenBy: t.string,
});

type StoredFormat = t.TypeOf<typeof StoredFormat>;

export const ownFormat: StoredFormat = { format: storedFormat, writtenBy: packageJson.version };

/**
 * @param where names the data as the beginning of a sentence, by its folder or its variable
 * @returns the number of the format
 * @throws StartupError if the format is newer or older, or not a format
 */
export function ensureKnownFormat(stored: unknown, where: string): number {
  if (!StoredFormat.is(stored)) {
    throw new StartupError(`${where} has a format that cannot be read: restore a backup, or start a newer release.`);
  }
  const { format, writtenBy } = stored;
  if (format < oldestFormat) throw olderDataError(where, writtenBy);
  if (format <= ownFormat.format) return format;
  throw new StartupError(
    `${where} was written by Switchyard ${writtenBy} (format ${format}, this release ${ownFormat.writtenBy} knows ${ownFormat.format}): start that release or a newer one.`,
  );
}
