import * as t from 'io-ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import packageJson from '../../package.json' with { type: 'json' };

const StoredFormat = t.type({
  /** The number of the format. What was stored before formats had numbers (release 0.3.0 and older) has number 1. */
  format: t.number,
  /** The release that wrote it. */
  writtenBy: t.string,
});

/** The format in which a release stores data. */
type StoredFormat = t.TypeOf<typeof StoredFormat>;

/** The format of this release. Raise the number when an older release could no longer use what this one stores. */
export const ownFormat: StoredFormat = { format: 3, writtenBy: packageJson.version };

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
