import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StartupError } from '#shared/errors/startup-error.ts';
import { SqliteFile, type SqliteStoreOptions } from '#sqlite/sqlite-file.ts';
import { type SubjectKeys, subjectKeyBytes } from './subject-keys.ts';

/** Rows are only added at the end, so that SQLite never copies a page with a key. */
const schema = `
  CREATE TABLE IF NOT EXISTS subjectKeys (
    number INTEGER PRIMARY KEY,
    subject TEXT NOT NULL UNIQUE,
    secret BLOB NOT NULL
  ) STRICT;
`;
const insertSql = 'INSERT INTO subjectKeys (subject, secret) VALUES (?, ?) ON CONFLICT DO NOTHING';
const overwriteSql =
  'INSERT INTO subjectKeys (subject, secret) VALUES (?, ?) ON CONFLICT (subject) DO UPDATE SET secret = excluded.secret';
const findSql = 'SELECT subject, secret FROM subjectKeys WHERE subject IN (SELECT value FROM json_each(?))';
const pageSql = 'SELECT subject, secret FROM subjectKeys WHERE subject > ? ORDER BY subject LIMIT ?';

/**
 * Opens keys in a SQLite file that only its owner can read. A key is on the disk before it is returned. A destroyed key
 * leaves no byte in the file: rows are only added at the end (see `schema`); a key is overwritten in place with zeros;
 * and the write-ahead log with the key is emptied before the destruction is answered.
 * @throws StartupError for any other file, which stays unchanged, and for a file that cannot be opened
 */
export function openSqliteSubjectKeys(options: SqliteStoreOptions): SubjectKeys {
  const file = new SqliteFile({
    ...options,
    contents: 'The subject keys',
    schema,
    isDurable: true,
    isZeroed: true,
    check: (database) => {
      if (isOfOthers(database)) throw new StartupError(`${options.file} holds no subject keys, but something else.`);
      chmodSync(options.file, 0o600);
    },
  });
  const select = (sql: string, ...values: ReadonlyArray<string | number>) =>
    file.rows(sql, ...values) as ReadonlyArray<Row>;
  const find = (subjects: ReadonlyArray<string>) => {
    const rows = select(findSql, JSON.stringify(subjects));
    return new Map(rows.filter(({ secret }) => !isDestroyed(secret)).map(({ subject, secret }) => [subject, secret]));
  };
  const insert = (subject: string, key: Uint8Array) =>
    file.write({ statements: [{ sql: insertSql, rows: [[subject, key]] }] });
  return {
    obtain: async (subject) => {
      const known = find([subject]).get(subject);
      if (known !== undefined) return known;
      await insert(subject, randomBytes(subjectKeyBytes));
      return find([subject]).get(subject) ?? null;
    },
    adopt: async (subject, key) => {
      await insert(subject, key);
      const kept = find([subject]).get(subject);
      return kept === undefined || Buffer.from(kept).equals(key);
    },
    page: async (after, limit) =>
      select(pageSql, after, limit).map(({ subject, secret }) => [subject, isDestroyed(secret) ? null : secret]),
    find: async (subjects) => find(subjects),
    destroy: async (subject) => {
      // The log is emptied even if the key was overwritten before, because that process may have ended before it
      // emptied the log.
      const overwrite = { sql: overwriteSql, rows: [[subject, destroyed]] };
      await file.write({ statements: [overwrite], emptiesLog: true });
    },
    close: async () => file.close(),
  };
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
