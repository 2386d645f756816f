import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '#app/config.ts';
import { openSqliteSubjectKeys } from '#personal-data/sqlite/sqlite-subject-keys.ts';
import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { MongoDbAvailabilities } from './mongodb-availabilities.ts';

/** The checks that show whether keys are missing. */
export interface SubjectKeysDependencies {
  /** Whether any node has finished the first start. */
  readonly isLogBegun: () => Promise<boolean>;
  readonly mongoDb: MongoDbAvailabilities;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Opens the keys of personal data. They are beside the read models, which all nodes share or one embeds. It warns if
 * the log is older than a folder without keys: the folder has lost them, or belongs to a second node.
 */
export async function openSubjectKeys(
  { readStore, dataDir, readOnly }: Pick<Config, 'readStore' | 'dataDir' | 'readOnly'>,
  { isLogBegun, mongoDb, log }: SubjectKeysDependencies,
): Promise<SubjectKeys> {
  if (readStore.kind === 'mongodb') {
    const { openMongoDbSubjectKeys } = await import('#personal-data/mongodb/mongodb-subject-keys.ts');
    const { url } = readStore;
    return openMongoDbSubjectKeys({ url, availability: await mongoDb.at(url, 'READ_STORE_URL') });
  }
  const file = join(dataDir, 'subject-keys.db');
  if (!existsSync(file) && (await isLogBegun())) log.warn({ file }, readOnly ? notCopied : missing);
  return openSqliteSubjectKeys(file);
}

const missing =
  'The log was begun before, but DATA_DIR has no keys of personal data: what was encrypted reads as erased here. ' +
  'Restore the file from a backup. If another node works on the same event store, stop this one: several nodes need ' +
  'one READ_STORE_URL=mongodb://... for all';

const notCopied =
  'The folder has no keys of personal data: what was encrypted reads as erased here. To read it, stop this service and ' +
  'run npm run subject-keys -- copy from the keys of the service that writes the log to this file';
