import { checkDatabaseFormat } from '#app/database-format.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';

/**
 * Checks the format of a database that a tool opens.
 * @param name names the database in the message: its variable, or its place on the command line
 * @throws StartupError if a newer or an older release has written the database; UnavailableError
 */
export async function checkFormatOfDatabase(url: string, name: string): Promise<void> {
  const connection = new MongoDbConnection({ url });
  try {
    await checkDatabaseFormat({ records: openMongoDbRecordStore({ connection }), connection }, name);
  } finally {
    await connection.close();
  }
}
