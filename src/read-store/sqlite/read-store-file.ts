import { existsSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** Marks a SQLite file as a read store of Switchyard ("SYrs"). */
const applicationId = 0x53597273;
const schemaVersion = 1;

const schema = `
  CREATE TABLE collection (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL) STRICT;
  CREATE TABLE generation (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    version INTEGER NOT NULL,
    indexes TEXT NOT NULL,
    begunAt INTEGER NOT NULL,
    complete INTEGER NOT NULL,
    checkpoint INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE note (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/** The file is damaged. Read models can be rebuilt, so the file is renamed and replaced. */
export class ReadStoreDamagedError extends Error {
  override readonly name = 'ReadStoreDamagedError';
}

/**
 * Opens the file for the only writer. Creates it if it does not exist.
 * @param file its folder must exist
 * @throws ReadStoreDamagedError if it is corrupt, newer or no read store; UnavailableError if it cannot be opened now
 */
export function openReadStoreFile(file: string): DatabaseSync {
  return guarded(() => {
    const database = new DatabaseSync(file, { timeout: 5000 });
    try {
      // With larger pages a fill, whose documents come in the order of storage, needs fewer writes.
      database.exec('PRAGMA page_size = 8192');
      prepareSchema(database);
      // Lost last commits do no harm: their checkpoints are lost too, so the documents are folded again from the log.
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY');
      database.exec('PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 67108864');
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Renames the file and those that belong to it. @returns the new path */
export function setAside(file: string): string {
  const aside = `${file}.set-aside-${new Date().toISOString().replaceAll(':', '-')}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  }
  return aside;
}

/** @throws ReadStoreDamagedError or UnavailableError in place of SQLite's errors of that meaning */
export function guarded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw named(error);
  }
}

function named(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error;
  switch (error.errcode & 0xff) {
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return new ReadStoreDamagedError(error.message, { cause: error });
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
    case 8: // SQLITE_READONLY
    case 10: // SQLITE_IOERR
    case 13: // SQLITE_FULL
    case 14: // SQLITE_CANTOPEN
      return new UnavailableError(`The read store cannot be used: ${error.message}.`);
    default:
      return error;
  }
}

function prepareSchema(database: DatabaseSync): void {
  const id = pragma(database, 'application_id');
  const version = pragma(database, 'user_version');
  if (id === applicationId && version === schemaVersion) return;
  const tables = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get();
  if (id !== 0 || version !== 0 || tables?.count !== 0) {
    throw new ReadStoreDamagedError(`It is not a read store of this release (application ${id}, version ${version}).`);
  }
  database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
}

function pragma(database: DatabaseSync, name: 'application_id' | 'user_version'): unknown {
  return database.prepare(`PRAGMA ${name}`).get()?.[name];
}
