import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '#app/config.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import type { RecordStore } from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import type { Json } from '#shared/json/json.ts';
import type { MongoDbAvailabilities } from './mongodb-availabilities.ts';

interface Kind {
  readonly _id: string;
  readonly fence: number;
  readonly values: Readonly<Record<string, string>>;
}

const fenced = () => new FencedError('A newer term has begun.');
const notNeeded = () => Promise.reject(new Error('not needed'));

/** Opens the records of processes. The adapters of the port replace it. */
export async function openBridgedRecords(
  { readStore, dataDir }: Pick<Config, 'readStore' | 'dataDir'>,
  mongoDb: MongoDbAvailabilities,
): Promise<RecordStore> {
  if (readStore.kind === 'sqlite') return openRecordsInFile(join(dataDir, 'processes.db'));
  const { url } = readStore;
  return onMongoDb(new MongoDbConnection({ url, availability: await mongoDb.at(url, 'READ_STORE_URL') }));
}

/** Opens the records in a SQLite file. */
export function openRecordsInFile(path: string): RecordStore {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS bridged (kind TEXT, key TEXT, value TEXT, PRIMARY KEY (kind, key))`);
  return {
    get: async (kind, key) => {
      const row = database.prepare('SELECT value FROM bridged WHERE kind = ? AND key = ?').get(kind, key);
      return row === undefined ? null : JSON.parse(String(row.value));
    },
    all: notNeeded,
    take: async () => undefined,
    put: async (kind, entries) => {
      const put = database.prepare('INSERT OR REPLACE INTO bridged VALUES (?, ?, ?)');
      for (const [key, value] of entries) put.run(kind, key, JSON.stringify(value));
    },
    delete: notNeeded,
    close: async () => database.close(),
  };
}

function onMongoDb(connection: MongoDbConnection): RecordStore {
  const kinds = <Result>(work: (kinds: import('mongodb').Collection<Kind>) => Promise<Result>) =>
    connection.call((database) => work(database.collection('bridgedRecords')));
  return {
    get: async (kind, key): Promise<Json | null> => {
      const text = (await kinds((all) => all.findOne({ _id: kind })))?.values[key];
      return text === undefined ? null : JSON.parse(text);
    },
    all: notNeeded,
    take: async (kind, fence) => {
      await kinds((all) => all.updateOne({ _id: kind }, { $setOnInsert: { fence: 0, values: {} } }, { upsert: true }));
      const changed = await kinds((all) => all.updateOne({ _id: kind, fence: { $lte: fence } }, { $set: { fence } }));
      if (changed.matchedCount === 0) throw fenced();
    },
    put: async (kind, entries, { fence = 0 } = {}) => {
      for (const [key, value] of entries) {
        const set = { $set: { [`values.${key}`]: JSON.stringify(value) } };
        const changed = await kinds((all) => all.updateOne({ _id: kind, fence: { $lte: fence } }, set));
        if (changed.matchedCount === 0) throw fenced();
      }
    },
    delete: notNeeded,
    close: () => connection.close(),
  };
}
