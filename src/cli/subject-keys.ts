import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openDataDirectory } from '#app/data-directory.ts';
import { runTool } from '#cli/shared/command-line.ts';
import { checkFormatOfDatabase } from '#cli/stores/database-format.ts';
import { copySubjectKeys } from '#personal-data/copy-subject-keys.ts';
import { openMongoDbSubjectKeys } from '#personal-data/subject-keys.mongodb.ts';
import { openSqliteSubjectKeys } from '#personal-data/subject-keys.sqlite.ts';
import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { unknownWord } from './shared/command-line.ts';

const usage = `Usage: npm run subject-keys -- copy <from> <to>

  copy   puts the keys of personal data into another store, when read models move to another engine

  <from>, <to>   sqlite:<file>, which is subject-keys.db in the service's DATA_DIR, or the service's READ_STORE_URL,
                 mongodb://...

Stop the service first: a key that it makes meanwhile would not be copied, and what it encrypts could never be read. A
key that was destroyed in either store is destroyed in the second. Run the same command again to resume an interrupted
copy. Remove the first store when the service uses the second: an erasure destroys the key in the second store only.
`;

await runTool('subject-keys', usage, run, UnavailableError);

async function run(words: ReadonlyArray<string>): Promise<number | null> {
  const [command, from, to, surplus] = words;
  if (command !== undefined && command !== 'copy') throw unknownWord('subject-keys', command, ['copy']);
  if (surplus !== undefined) throw unknownWord('subject-keys', surplus, []);
  return from === undefined || to === undefined ? null : copy(from, to);
}

async function copy(from: string, to: string): Promise<number> {
  await using opened = new AsyncDisposableStack();
  ownFolderOf(from, opened, 'must be there');
  ownFolderOf(to, opened);
  for (const address of [from, to])
    if (kindOf(address) === 'mongodb') await checkFormatOfDatabase(address, 'the command line');
  const writer = new SqliteWriter({ onFatal: (error) => process.stderr.write(`subject-keys: ${error}\n`) });
  opened.defer(() => writer.close());
  const [source, target] = [open(from, writer, opened), open(to, writer, opened)];
  const { keys, destroyed, differing } = await copySubjectKeys(source, target);
  process.stdout.write(`copied ${keys} keys, and the marks of ${destroyed} that are destroyed\n`);
  for (const subject of differing)
    process.stderr.write(`subject-keys: ${subject} has another key in ${kindOf(to)}: it was left as it is\n`);
  return differing.length === 0 ? 0 : 1;
}

/** @throws StartupError for a missing file, and for one whose service runs */
function ownFolderOf(address: string, opened: AsyncDisposableStack, needed?: 'must be there'): void {
  if (kindOf(address) === 'mongodb') return;
  const file = fileOf(address);
  if (needed && !existsSync(file)) throw new StartupError(`There is no file ${file}.`);
  const directory = openDataDirectory(dirname(file));
  opened.defer(() => directory.release());
}

/** @throws StartupError for an invalid address, and for a file that holds something else */
function open(address: string, writer: SqliteWriter, opened: AsyncDisposableStack): SubjectKeys {
  const keys =
    kindOf(address) === 'mongodb'
      ? openMongoDbSubjectKeys({ url: address })
      : openSqliteSubjectKeys({ file: fileOf(address), writer });
  opened.defer(() => keys.close());
  return keys;
}

function fileOf(address: string): string {
  return resolve(address.replace(/^sqlite:(?:\/\/)?/, ''));
}

/** @throws StartupError */
function kindOf(address: string): 'sqlite' | 'mongodb' {
  if (/^mongodb(\+srv)?:\/\//.test(address)) return 'mongodb';
  if (/^sqlite:./.test(address)) return 'sqlite';
  // The address is not shown, because it may hold a password.
  throw new StartupError('An address must begin with sqlite: or mongodb://. Example: sqlite:./data/subject-keys.db');
}
