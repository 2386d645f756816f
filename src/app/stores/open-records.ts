import { join } from 'node:path';
import type { Config } from '#app/config.ts';
import { dataDatabases } from '#app/files/data-files.ts';
import type { RecordStore } from '#records/record-store.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import type { MongoDbConnections } from './mongodb-connections.ts';
import type { SmallStoresPlace } from './small-stores.ts';
import { takeOverEmbeddedRecords } from './take-over/embedded-records.ts';

/** The dependencies of records. */
export interface RecordsDependencies {
  readonly mongoDb: MongoDbConnections;
  /** Receives an error after which nothing can be written any more. */
  readonly onFatal: (error: Error) => void;
  /** Collects everything that must be closed. */
  readonly opened: AsyncDisposableStack;
}

/** Opens the small records, and starts what writes them. @throws StartupError */
export async function openRecords(
  { readStore, dataDir }: Pick<Config, 'readStore' | 'dataDir'>,
  { mongoDb, onFatal, opened }: RecordsDependencies,
): Promise<{ readonly records: RecordStore; readonly place: SmallStoresPlace }> {
  if (readStore.kind === 'mongodb') {
    const { openMongoDbRecordStore } = await import('#records/mongodb/mongodb-record-store.ts');
    const connection = await mongoDb.to(readStore.url, 'READ_STORE_URL', 'queries');
    const records = openMongoDbRecordStore({ connection });
    opened.defer(() => records.close());
    return { records, place: { kind: 'shared', connection } };
  }
  const writer = new SqliteWriter({ onFatal });
  opened.defer(() => writer.close());
  const records = openSqliteRecordStore({ file: join(dataDir, dataDatabases.records), writer });
  opened.defer(() => records.close());
  return { records, place: { kind: 'embedded', dataDir, writer } };
}

/**
 * Copies what release 0.3 has stored elsewhere into the records, at the first start of this release. On shared stores
 * the work of its nodes is left to `EarlierWork`.
 * @throws StartupError; UnavailableError
 */
export async function takeOverEarlierRecords(
  records: RecordStore,
  place: SmallStoresPlace,
  readStore: Config['readStore'],
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  if (place.kind === 'embedded') {
    const readStoreFile = readStore.kind === 'sqlite' ? readStore.path : join(place.dataDir, 'read.db');
    return takeOverEmbeddedRecords({ dataDir: place.dataDir, readStoreFile, records, log });
  }
  const { takeOverMongoDbRecords } = await import('./take-over/mongodb-records.ts');
  return takeOverMongoDbRecords({ connection: place.connection, records, part: 'rest' });
}
