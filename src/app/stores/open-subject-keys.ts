import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataDatabases } from '#app/files/data-files.ts';
import { openSqliteSubjectKeys } from '#personal-data/subject-keys.sqlite.ts';
import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { limited } from './limited.ts';
import { subjectKeyLimits } from './port-limits.ts';
import type { SmallStoresPlace } from './small-stores.ts';

/** What shows whether keys are missing. */
export interface SubjectKeysDependencies {
  /** True if any node has finished the first start. */
  readonly isLogBegun: () => Promise<boolean>;
  /** The service only shows a past moment. Default false. */
  readonly isReadOnly?: boolean;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Opens the keys, and warns if the log is older than a folder without keys: the folder has lost them, or belongs to a
 * second node.
 * @throws StartupError
 */
export async function openSubjectKeys(
  place: SmallStoresPlace,
  { isLogBegun, isReadOnly = false, log }: SubjectKeysDependencies,
): Promise<SubjectKeys> {
  if (place.kind === 'shared') {
    const { openMongoDbSubjectKeys } = await import('#personal-data/subject-keys.mongodb.ts');
    return limited(openMongoDbSubjectKeys({ connection: place.connection }), subjectKeyLimits);
  }
  const file = join(place.dataDir, dataDatabases.subjectKeys);
  if (!existsSync(file) && (await isLogBegun())) log.warn({ file }, isReadOnly ? notCopied : missing);
  return limited(openSqliteSubjectKeys({ file, writer: place.writer }), subjectKeyLimits);
}

const missing =
  'The log was begun before, but DATA_DIR has no keys of personal data: what was encrypted reads as erased here. ' +
  'Restore the file from a backup. If another node works on the same event store, stop this one: several nodes need ' +
  'one READ_STORE_URL=mongodb://... for all';

const notCopied =
  'The folder has no keys of personal data: what was encrypted reads as erased here. To read it, stop this service and ' +
  'run npm run subject-keys -- copy from the keys of the service that writes the log to this file';
