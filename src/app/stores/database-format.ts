import { setTimeout } from 'node:timers/promises';
import { ensureKnownFormat, ownFormat } from '#app/stored-format.ts';
import type { RecordStore } from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { Json } from '#shared/json/json.ts';

const kind = 'format';
const key = 'database';
/** The attempts to record the format beside other nodes, and the time between two. */
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
