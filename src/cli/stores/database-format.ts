import { checkDatabaseFormat } from '#app/stored-format.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';

/**
 * Checks that this release knows the format of a database that a tool opens.
 * @param name names the database in the message: its variable, or its place on the command line
 * @throws StartupError if a newer release has written the database; UnavailableError
 */
export async function checkFormatOfDatabase(url: string, name: string): Promise<void> {
  const records = openMongoDbRecordStore({ url });
  try {
    await checkDatabaseFormat(records, name);
  } finally {
    await records.close();
  }
}
