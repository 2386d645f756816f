import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';

/** The collections of release 0.3: documents by generation, the read models' records, and the counter of generations. */
const oldCollections = /^(documents\d+|readModels|counters)$/;

/**
 * Drops the read models of release 0.3, which this release does not use. No node of that release may run.
 * @returns the names of the dropped collections
 * @throws UnavailableError
 */
export async function dropOldReadModels(options: MongoDbConnectionOptions): Promise<ReadonlyArray<string>> {
  const connection = new MongoDbConnection(options);
  try {
    const stored = await connection.call((database) => database.listCollections({}, { nameOnly: true }).toArray());
    const old = stored.map(({ name }) => name).filter((name) => oldCollections.test(name));
    for (const name of old) await connection.call((database) => database.dropCollection(name));
    return old;
  } finally {
    await connection.close();
  }
}
