import { join } from 'node:path';
import { openMongoDbSubjectKeys } from '#src/subject-keys/mongodb-subject-keys.ts';
import { openSqliteSubjectKeys } from '#src/subject-keys/sqlite-subject-keys.ts';
import type { SubjectKeys } from '#src/subject-keys/subject-keys.ts';
import type { Config } from './config.ts';

/** Opens the keys of personal data: beside the read models, which all nodes share or one embeds. */
export function openSubjectKeys({ readStore, dataDir }: Pick<Config, 'readStore' | 'dataDir'>): SubjectKeys {
  return readStore.kind === 'mongodb'
    ? openMongoDbSubjectKeys({ url: readStore.url })
    : openSqliteSubjectKeys(join(dataDir, 'subject-keys.db'));
}
