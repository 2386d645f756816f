import type { Collection, Db } from 'mongodb';
import type { MongoDbConnection } from './mongodb-connection.ts';
import { duplicateKey } from './mongodb-failure.ts';

const collectionName = 'rights';

const unauthorized = 13;
/**
 * Codes that show that the user may do it: there is no such collection, it exists already, or a try that was cut off
 * has left its document.
 */
const harmlessCodes = new Set<unknown>([26, 48, duplicateKey]);

interface Place {
  readonly database: Db;
  readonly collection: Collection<{ readonly _id: string; readonly tried?: boolean }>;
  readonly id: string;
}

/**
 * What the service does on the collections of its database, by the names of MongoDB's manual, and how each is tried. What
 * remains is an empty collection.
 *
 * @see https://www.mongodb.com/docs/manual/reference/privilege-actions/
 */
const attempts = {
  listCollections: ({ database }: Place) => database.listCollections({}, { nameOnly: true }).toArray(),
  createCollection: ({ database }: Place) => database.createCollection(collectionName),
  createIndex: ({ collection }: Place) => collection.createIndex({ tried: 1 }),
  listIndexes: ({ collection }: Place) => collection.indexes(),
  insert: ({ collection, id }: Place) => collection.insertOne({ _id: id }),
  find: ({ collection, id }: Place) => collection.findOne({ _id: id }),
  update: ({ collection, id }: Place) => collection.updateOne({ _id: id }, { $set: { tried: true } }),
  remove: ({ collection, id }: Place) => collection.deleteOne({ _id: id }),
  // Another node may be using the collection itself.
  dropCollection: ({ database }: Place) => database.dropCollection(`${collectionName}.none`),
};

export type UserAction = keyof typeof attempts;

export const userActions = Object.keys(attempts) as ReadonlyArray<UserAction>;

/**
 * Tries what the service does, because not each server lists a user's rights.
 *
 * @param id one that no other node uses at the same time
 * @returns the actions that the server refuses to the user of the connection
 * @throws UnavailableError
 */
export async function findRefusedActions(
  connection: MongoDbConnection,
  id: string,
): Promise<ReadonlyArray<UserAction>> {
  const refused: UserAction[] = [];
  for (const action of userActions) {
    const isRefused = await connection.call((database) =>
      isUnauthorized(attempts[action]({ database, collection: database.collection(collectionName), id })),
    );
    if (isRefused) refused.push(action);
  }
  return refused;
}

async function isUnauthorized(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt;
    return false;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code !== unauthorized && !harmlessCodes.has(code)) throw error;
    return code === unauthorized;
  }
}
