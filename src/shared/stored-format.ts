import { StartupError } from './errors/startup-error.ts';

/**
 * The number of the format in which this release stores data: events, tables, collections and records. It rises with every
 * new type of event and every new stored shape, once in a release, so that an older release does not start on data that it
 * does not know (ADR 75). `test/fixtures/stored-shapes.json` has the shapes of this number, and a test compares them.
 */
export const storedFormat = 5;

/** The oldest format that this release opens: that of the release before (ADR 128). */
export const oldestFormat = 4;

/**
 * The error for data that only an older release opens.
 * @param where names the data as the beginning of a sentence
 * @param release that wrote it
 */
export function olderDataError(where: string, release: string): StartupError {
  return new StartupError(
    `${where} was written by Switchyard ${release}: start Switchyard 0.5.0 once on it, then this release.`,
  );
}
