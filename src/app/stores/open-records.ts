import { join } from 'node:path';
import { dataDatabases } from '#app/files/data-files.ts';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import type { RecordStore } from '#records/record-store.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import { SqliteWriter, type SqliteWriterOptions } from '#sqlite/sqlite-writer.ts';
import { limited } from './limited.ts';
import type { MongoDbConnections } from './mongodb-connections.ts';
import { recordLimits } from './port-limits.ts';
import type { SmallStoresPlace } from './small-stores.ts';

/** The records, and the place of the stores next to them. */
export interface OpenedRecords {
  readonly records: RecordStore;
  readonly place: SmallStoresPlace;
}

export interface SharedRecords extends OpenedRecords {
  readonly connection: MongoDbConnection;
}

/** Opens shared records and writes nothing. @throws StartupError */
export async function openSharedRecords(
  url: string,
  mongoDb: MongoDbConnections,
  opened: AsyncDisposableStack,
): Promise<SharedRecords> {
  const { openMongoDbRecordStore } = await import('#records/mongodb/mongodb-record-store.ts');
  const connection = await mongoDb.to(url, 'READ_STORE_URL', 'queries');
  const records = limited(openMongoDbRecordStore({ connection }), recordLimits);
  opened.defer(() => records.close());
  return { records, place: { kind: 'shared', connection }, connection };
}

/** `onFatal` is called after an error, when nothing can be written any more. */
type RecordWriting = Required<Pick<SqliteWriterOptions, 'admission' | 'onFatal'>>;

/** Opens the records and starts what writes them. @throws StartupError */
export function openEmbeddedRecords(
  dataDir: string,
  { admission, onFatal }: RecordWriting,
  opened: AsyncDisposableStack,
): OpenedRecords {
  const writer = new SqliteWriter({ admission, onFatal });
  opened.defer(() => writer.close());
  const file = join(dataDir, dataDatabases.records);
  const records = limited(openSqliteRecordStore({ file, writer }), recordLimits);
  opened.defer(() => records.close());
  return { records, place: { kind: 'embedded', dataDir, writer } };
}
