import { randomBytes } from 'node:crypto';
import { Binary, type Db, MongoServerError } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#src/mongodb/mongodb-connection.ts';
import { type SubjectKeys, subjectKeyBytes } from './subject-keys.ts';

const keysName = 'subjectKeys';

interface KeyRecord {
  /** The subject. */
  readonly _id: string;
  /** Null once it was destroyed. */
  readonly secret: Binary | null;
}

/**
 * Keys on MongoDB, in a collection of their own. What the server's journal, oplog and backups still hold of a destroyed
 * key is the operator's to let expire.
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
      records.flatMap(({ _id, secret }) => (secret === null ? [] : [[_id, new Uint8Array(secret.buffer)] as const])),
    );
  };
  return {
    obtain: async (subject) => {
      // Written before it is read, also where it was there: the write is answered once a majority holds the key.
      await connection.call((database) =>
        make(database, subject).catch((error: unknown) => {
          if (!isDuplicate(error)) throw error;
          return make(database, subject);
        }),
      );
      return (await find([subject])).get(subject) ?? null;
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

/** Two who make the same document at once may meet; one of them is told so. */
const duplicateKey = 11000;

function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey;
}

function make(database: Db, subject: string): Promise<unknown> {
  return database
    .collection<KeyRecord>(keysName)
    .updateOne(
      { _id: subject },
      { $setOnInsert: { secret: new Binary(randomBytes(subjectKeyBytes)) } },
      { upsert: true },
    );
}
