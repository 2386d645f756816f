import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { areDuplicates } from '#mongodb/mongodb-failure.ts';
import type { Generation } from '#read-store/read-store.ts';
import { allSettled } from '#shared/async/all-settled.ts';
import { type DocumentRecord, documentsName } from './stored-document.ts';

/** How writes are applied. */
export interface WriteContext {
  readonly connection: MongoDbConnection;
  readonly generation: Generation;
  /** The position up to which the generation was stored before. A document that is newer is probably not stored yet. */
  readonly storedUpTo: number;
  /** Makes a call until the server answers it, while this writer holds its lease. */
  readonly repeat: <Result>(call: () => Promise<Result>) => Promise<Result>;
}

/** Inserts records. Those that exist already are left unchanged. @returns false if some existed already */
export async function insert(records: ReadonlyArray<DocumentRecord>, applying: WriteContext): Promise<boolean> {
  const operations = records.map((document) => ({ insertOne: { document } }));
  return calling(applying, async (collection) => {
    try {
      await collection.bulkWrite(operations, { ordered: false });
      return true;
    } catch (error) {
      if (!areDuplicates(error)) throw error;
      return false;
    }
  });
}

/** The calls at the same time for documents whose order does not matter. */
export const callsTogether = 2;

/** Stores each state, unless a later one is stored. One call stores its documents one after the other. */
export async function merge(records: ReadonlyArray<DocumentRecord>, applying: WriteContext): Promise<void> {
  const operations: ReadonlyArray<AnyBulkWriteOperation<DocumentRecord>> = records.map(({ _id, state }) => ({
    updateOne: { filter: { _id }, update: { $max: { state } }, upsert: true },
  }));
  const together = await applying.connection.maxUpdates();
  let start = 0;
  const mergeLeft = async () => {
    while (start < operations.length) {
      const some = operations.slice(start, start + together);
      start += together;
      await calling(applying, (collection) => collection.bulkWrite(some, { ordered: true }));
    }
  };
  await allSettled(Array.from({ length: callsTogether }, mergeLeft));
}

/** Calls the store on the documents of the generation. @throws UnavailableError; FencedError */
export async function calling<Result>(
  { connection, generation, repeat }: WriteContext,
  work: (collection: Collection<DocumentRecord>) => Promise<Result>,
): Promise<Result> {
  return repeat(() => connection.call((database) => work(database.collection(documentsName(generation)))));
}
