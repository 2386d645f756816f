import { setTimeout } from 'node:timers/promises';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import type { RecordStore } from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { Json } from '#shared/json/json.ts';
import { olderDataError } from '#shared/stored-format.ts';
import { ensureKnownFormat, ownFormat } from './stored-format.ts';

/** A database whose format is a record. */
export interface SharedDatabase {
  readonly records: Pick<RecordStore, 'get' | 'take' | 'put'>;
  readonly connection: Pick<MongoDbConnection, 'collectionNames'>;
}

const kind = 'format';
const key = 'database';
/** The collection of read models of release 0.3.0 and older ones, which stored no number. */
const oldReadModels = 'readModels';
/** Maximum number of attempts to record the format next to other nodes, and the time between two attempts. */
const maxAttempts = 20;
const retryMs = 100;

/**
 * A database without a number is new, holds what a tool has copied there, or is of a release that stored none.
 * @param variable names the database
 * @returns the number of the format; null without one
 * @throws StartupError if a newer or an older release has written the database; UnavailableError
 */
export async function checkDatabaseFormat(
  { records, connection }: SharedDatabase,
  variable: string,
): Promise<number | null> {
  const where = `The database of ${variable}`;
  const stored = await records.get(kind, key);
  if (stored !== null) return ensureKnownFormat(stored, where);
  if ((await connection.collectionNames()).includes(oldReadModels))
    throw olderDataError(where, '0.3.0 or an older release');
  return null;
}

/**
 * Called before the release writes anything else there. The number is its own fencing token, so a node of an older
 * release that starts at the same time cannot lower it.
 * @throws StartupError if another release has written the database; UnavailableError
 */
export async function recordDatabaseFormat(database: SharedDatabase, variable: string): Promise<void> {
  const { records } = database;
  const fence = ownFormat.format;
  const entries = new Map<string, Json>([[key, ownFormat]]);
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    if ((await checkDatabaseFormat(database, variable)) === ownFormat.format) return;
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
