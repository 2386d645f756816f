import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type SubjectKeys, subjectKeyBytes } from '#personal-data/subject-keys.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/**
 * Opens keys in a SQLite file. A destroyed key leaves no byte in the file: rows are only added at the end, so SQLite
 * never copies a page with a key; a key is overwritten in place with as many zeros; and the write-ahead log with the
 * key is emptied at once. Calls are short and rare, so they run synchronously, with one disk sync for each new key.
 * @param file is created if it does not exist, readable only for its owner
 * @throws StartupError for any other file, which stays unchanged, and for a file that cannot be opened
 */
export function openSqliteSubjectKeys(file: string): SubjectKeys {
  const database = openFile(file);
  const insert = database.prepare('INSERT INTO subjectKeys (subject, secret) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const select = database.prepare(
    'SELECT subject, secret FROM subjectKeys WHERE subject IN (SELECT value FROM json_each(?))',
  );
  const overwrite = database.prepare(
    'INSERT INTO subjectKeys (subject, secret) VALUES (?, ?) ON CONFLICT (subject) DO UPDATE SET secret = excluded.secret',
  );
  const selectPage = database.prepare(
    'SELECT subject, secret FROM subjectKeys WHERE subject > ? ORDER BY subject LIMIT ?',
  );
  const find = (subjects: ReadonlyArray<string>) => {
    const rows = select.all(JSON.stringify(subjects)) as Row[];
    return new Map(rows.filter(({ secret }) => !isDestroyed(secret)).map(({ subject, secret }) => [subject, secret]));
  };
  return {
    obtain: async (subject) =>
      usable(() => {
        const known = find([subject]).get(subject);
        if (known !== undefined) return known;
        insert.run(subject, randomBytes(subjectKeyBytes));
        return find([subject]).get(subject) ?? null;
      }),
    adopt: async (subject, key) =>
      usable(() => {
        insert.run(subject, key);
        const kept = find([subject]).get(subject);
        return kept === undefined || Buffer.from(kept).equals(key);
      }),
    page: async (after, limit) =>
      usable(() =>
        (selectPage.all(after, limit) as Row[]).map(({ subject, secret }) => [
          subject,
          isDestroyed(secret) ? null : secret,
        ]),
      ),
    find: async (subjects) => usable(() => find(subjects)),
    destroy: async (subject) =>
      usable(() => {
        overwrite.run(subject, destroyed);
        // This also runs if the key was overwritten before, because that process may have ended before it emptied the
        // log.
        const row = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
        if (row?.busy !== 0)
          throw new UnavailableError('The file of the subject keys is in use: a key is not erased yet.');
      }),
    close: async () => {
      if (database.isOpen) database.close();
    },
  };
}

function openFile(file: string): DatabaseSync {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { timeout: 5000 });
    if (isOfOthers(database)) throw new StartupError(`${file} holds no subject keys, but something else.`);
    chmodSync(file, 0o600);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA secure_delete = ON;
      CREATE TABLE IF NOT EXISTS subjectKeys (
        number INTEGER PRIMARY KEY,
        subject TEXT NOT NULL UNIQUE,
        secret BLOB NOT NULL
      ) STRICT;
    `);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StartupError || !(error instanceof Error) || !('code' in error)) throw error;
    throw new StartupError(`The subject keys in ${file} cannot be opened: ${error.message}.`, { cause: error });
  }
}

function isOfOthers(database: DatabaseSync): boolean {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return tables.length > 0 && !tables.some(({ name }) => name === 'subjectKeys');
}

type Row = { readonly subject: string; readonly secret: Uint8Array };

/** What replaces a destroyed key; no random key has this value. */
const destroyed = new Uint8Array(subjectKeyBytes);

function isDestroyed(secret: Uint8Array): boolean {
  return secret.every((byte) => byte === 0);
}

function usable<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    throw new UnavailableError(`The subject keys cannot be used: ${error.message}.`);
  }
}
