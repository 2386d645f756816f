import { dirname, join } from 'node:path';
import type { Config } from '#app/config.ts';
import { dataDatabases } from '#app/files/data-files.ts';
import type { Admission } from '#exchange/admission.ts';
import type { MongoDbConnection, MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import { openSqliteResponseStore } from '#responses/sqlite/sqlite-response-store.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import { FreeSpace } from '#shared/files/free-space.ts';
import type { SqliteStoreOptions } from '#sqlite/sqlite-file.ts';
import type { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { openSqliteCallLog } from '#usage/call-log/call-log.sqlite.ts';
import type { CallLog } from '#usage/call-log/call-log.ts';
import { openSqliteDeliveryLog } from '#webhooks/delivery-log.sqlite.ts';
import type { DeliveryLog } from '#webhooks/delivery-log.ts';
import { limited, type PortLimits } from './limited.ts';
import { callLogLimits, deliveryLogLimits, responseLimits } from './port-limits.ts';

/** Where small stores are: next to the read models, which one process embeds or all nodes share. */
export type SmallStoresPlace =
  | {
      readonly kind: 'embedded';
      readonly dataDir: string;
      /** Writes the folder's small SQLite files. */
      readonly writer: SqliteWriter;
    }
  | { readonly kind: 'shared'; readonly connection: MongoDbConnection };

/** @throws StartupError */
export function openCallLog(place: SmallStoresPlace): Promise<CallLog> {
  return openSmallStore(place, {
    limits: callLogLimits,
    file: dataDatabases.gatewayCalls,
    openSqlite: openSqliteCallLog,
    loadMongoDb: async () => (await import('#usage/call-log/call-log.mongodb.ts')).openMongoDbCallLog,
  });
}

/** @param keys seal the items @throws StartupError */
export async function openStoredResponses(
  place: SmallStoresPlace,
  keys: SubjectKeys,
  { limits }: Pick<Config, 'limits'>,
  admission: Pick<Admission, 'slot'>,
): Promise<StoredResponses> {
  const store = await openSmallStore(place, {
    limits: responseLimits,
    file: dataDatabases.responses,
    openSqlite: (options) => openSqliteResponseStore({ ...options, hasRoomFor: roomIn(dirname(options.file), limits) }),
    loadMongoDb: async () => (await import('#responses/mongodb/mongodb-response-store.ts')).openMongoDbResponseStore,
  });
  const { responsesTtlDays: ttlDays, responsesQuotaBytes: quotaBytes, responsesMemoryBytes: recentTurnBytes } = limits;
  return new StoredResponses({ admission, store, keys, ttlDays, quotaBytes, recentTurnBytes });
}

/** @param folder on whose volume space must stay free */
function roomIn(folder: string, { minFreeBytes }: Config['limits']): (bytes: number) => Promise<boolean> {
  const freeSpace = new FreeSpace({ folders: [folder], minFreeBytes });
  return (bytes) => freeSpace.hasRoomFor(folder, bytes);
}

/** @throws StartupError */
export function openDeliveryLog(place: SmallStoresPlace): Promise<DeliveryLog> {
  return openSmallStore(place, {
    limits: deliveryLogLimits,
    file: dataDatabases.webhookDeliveries,
    openSqlite: openSqliteDeliveryLog,
    loadMongoDb: async () => (await import('#webhooks/delivery-log.mongodb.ts')).openMongoDbDeliveryLog,
  });
}

interface SmallStoreAdapters<Store> {
  readonly limits: PortLimits<Store>;
  /** The name of the file in DATA_DIR. */
  readonly file: string;
  readonly openSqlite: (options: SqliteStoreOptions) => Store;
  /** Loads the driver too, so it is called only where MongoDB is used. */
  readonly loadMongoDb: () => Promise<(options: MongoDbConnectionOptions) => Store>;
}

async function openSmallStore<Store extends object>(
  place: SmallStoresPlace,
  { limits, file, openSqlite, loadMongoDb }: SmallStoreAdapters<Store>,
): Promise<Store> {
  if (place.kind === 'embedded')
    return limited(openSqlite({ file: join(place.dataDir, file), writer: place.writer }), limits);
  const open = await loadMongoDb();
  return limited(open({ connection: place.connection }), limits);
}
