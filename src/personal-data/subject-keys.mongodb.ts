import { randomBytes } from 'node:crypto';
import { Binary, type Db } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { isDuplicateKey } from '#mongodb/mongodb-failure.ts';
import { type SubjectKeys, subjectKeyBytes } from './subject-keys.ts';

const keysName = 'subjectKeys';

interface KeyRecord {
  /** The subject. */
  readonly _id: string;
  /** The key; null after it was destroyed. */
  readonly secret: Binary | null;
}

/**
 * Keys have a collection of their own. The server's journal, oplog and backups may still contain a destroyed key until
 * they expire, which is the operator's task.
 */
export function openMongoDbSubjectKeys(options: MongoDbConnectionOptions): SubjectKeys {
  const connection = new MongoDbConnection(options);
  const find = async (subjects: ReadonlyArray<string>) => {
    const records = await connection.call((database) =>
      database
        .collection<KeyRecord>(keysName)
        .find({ _id: { $in: [...subjects] } })
        .toArray(),
    );
    return new Map(
      records.flatMap((record) => {
        const key = keyOf(record);
        return key === null ? [] : [[record._id, key] as const];
      }),
    );
  };
  // An existing key is written before it is read too, because the write is answered when a majority has stored the
  // key.
  const insert = (subject: string, key: Uint8Array) =>
    connection.call((database) =>
      make(database, subject, key).catch((error: unknown) => {
        // When two callers create the same document at the same time, one of them gets a duplicate-key error.
        if (!isDuplicateKey(error)) throw error;
        return make(database, subject, key);
      }),
    );
  return {
    obtain: async (subject) => {
      await insert(subject, randomBytes(subjectKeyBytes));
      return (await find([subject])).get(subject) ?? null;
    },
    adopt: async (subject, key) => {
      await insert(subject, key);
      const kept = (await find([subject])).get(subject);
      return kept === undefined || Buffer.from(kept).equals(key);
    },
    page: async (after, limit) => {
      const records = await connection.call((database) =>
        database
          .collection<KeyRecord>(keysName)
          .find({ _id: { $gt: after } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return records.map((record) => [record._id, keyOf(record)] as const);
    },
    find,
    destroy: async (subject) => {
      await connection.call((database) =>
        database
          .collection<KeyRecord>(keysName)
          .updateOne({ _id: subject }, { $set: { secret: null } }, { upsert: true }),
      );
    },
    close: () => connection.close(),
  };
}

function keyOf({ secret }: KeyRecord): Uint8Array | null {
  return secret === null ? null : new Uint8Array(secret.buffer);
}

function make(database: Db, subject: string, key: Uint8Array): Promise<unknown> {
  return database
    .collection<KeyRecord>(keysName)
    .updateOne({ _id: subject }, { $setOnInsert: { secret: new Binary(key) } }, { upsert: true });
}
