import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '#shared/errors/startup-error.ts';
import { olderDataError, oldestFormat, storedFormat } from '#shared/stored-format.ts';

/** "SWYE": marks a SQLite file as a Switchyard event store. */
const applicationId = 0x53575945;

// An index over (stream, revision) would cost more than everything else, because each append would write another page,
// and each written page goes to the log whole. So the log is a list of events in which each names the previous one of
// its stream. A stream's newest event is found by its head, in a small table that grows with the streams and not with
// the events. A position is never used twice while the newest event stays, so an expiry of events must keep that one.
// AUTOINCREMENT would not need this condition, but makes appends take two and a half times as long.
const schema = `
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    previous INTEGER NOT NULL, -- the position of the stream's event before; 0 for its first
    stream   TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    id       TEXT    NOT NULL,
    type     TEXT    NOT NULL,
    data     TEXT    NOT NULL,
    metadata TEXT    NOT NULL
  ) STRICT;
  CREATE TABLE heads (
    stream   TEXT    PRIMARY KEY,
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE marks (
    stream   TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (stream, revision)
  ) STRICT, WITHOUT ROWID;
`;

/** The number of events of a stream between two marks, from which reads of older events start. */
const markEvery = 64;

/** Number of events that are removed in one transaction: up to a mark, from which they are found. */
export const eventsPerRemoval = 8 * markEvery;

export function isMarked(revision: number): boolean {
  return revision % markEvery === markEvery - 1;
}

/**
 * Selects events from revision `$from` to `$to`, in order. It follows the list backwards, from the nearest mark or the
 * head.
 * @param columns of `events`
 */
export function streamRangeSql(columns: string): string {
  return `
    WITH RECURSIVE list (position, previous, revision) AS (
      SELECT position, previous, revision FROM events WHERE position = coalesce(
        (SELECT position FROM marks WHERE stream = $stream AND revision >= $to ORDER BY revision LIMIT 1),
        (SELECT position FROM heads WHERE stream = $stream))
      UNION ALL
      SELECT events.position, events.previous, events.revision
      FROM list CROSS JOIN events ON events.position = list.previous WHERE list.revision > $from
    )
    SELECT ${columns} FROM events
    WHERE position IN (SELECT position FROM list WHERE revision BETWEEN $from AND $to) ORDER BY position`;
}

/**
 * Opens the file for the only writer, durable at every commit. It checks that the file is an event store that this code
 * can read, and initializes a new file. It takes no longer for a large file.
 * @param file path of the SQLite file; its folder must exist
 * @throws StartupError if the file is not an event store, is of a newer or an older release, or is damaged
 */
export function openEventFile(file: string): DatabaseSync {
  const database = openDatabase(file);
  try {
    checkOrCreate(database, file);
    // Checkpoints are rarer than SQLite's default, so that a busy page is copied once for many commits.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000;');
    database.exec('PRAGMA cache_size = -16000;');
    recordFormat(database);
    return database;
  } catch (error) {
    database.close();
    throw startFailure(file, error);
  }
}

/** Opens the file for reading. Readers see every durable commit. @param file that `openEventFile` has opened before */
export function openEventFileForReading(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
}

/**
 * Checks the file and changes nothing.
 * @throws StartupError if the file does not exist, is not an event store, is of a newer or an older release, or is
 * damaged
 */
export function checkEventFile(file: string): void {
  if (!existsSync(file)) throw new StartupError(`${file} is not there: name the event store's file.`);
  let database: DatabaseSync | null = null;
  try {
    database = openEventFileForReading(file);
    check(database, file);
  } catch (error) {
    throw startFailure(file, error);
  } finally {
    database?.close();
  }
}

function openDatabase(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 5_000 });
  } catch (error) {
    throw startFailure(file, error);
  }
}

function checkOrCreate(database: DatabaseSync, file: string): void {
  if (isEmpty(database)) create(database);
  check(database, file);
}

function check(database: DatabaseSync, file: string): void {
  if (pragma(database, 'application_id') !== applicationId)
    throw new StartupError(
      `${file} is a SQLite file of another application, not a Switchyard event store; name another file or folder.`,
    );
  const version = pragma(database, 'user_version');
  if (version > storedFormat)
    throw new StartupError(
      `${file} was written by a newer Switchyard (format ${version}, this one knows ${storedFormat}); start that release or a newer one.`,
    );
  if (version < oldestFormat) throw olderDataError(file, '0.4.0 or an older release');
  // This reads the tables' roots and the newest event, and SQLite compares the header with the file's length. That is
  // enough to find a truncated or overwritten file.
  database.prepare('SELECT * FROM events ORDER BY position DESC LIMIT 1').get();
  database.prepare("SELECT position FROM heads WHERE stream = ''").get();
  database.prepare("SELECT position FROM marks WHERE stream = ''").get();
}

function isEmpty(database: DatabaseSync): boolean {
  const tables = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get();
  return tables?.count === 0 && pragma(database, 'application_id') === 0;
}

/** Creates the tables in one transaction. A crash leaves an empty file, which the next start initializes. */
function create(database: DatabaseSync): void {
  database.exec(
    `BEGIN IMMEDIATE; ${schema} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${storedFormat}; COMMIT`,
  );
}

/**
 * Records the number in the file, so that a copy of it alone has the number too. On a full disk it writes nothing; then
 * the next start does.
 */
function recordFormat(database: DatabaseSync): void {
  if (pragma(database, 'user_version') === storedFormat) return;
  try {
    database.exec(`PRAGMA user_version = ${storedFormat}`);
  } catch (error) {
    if (primaryCodeOf(error) !== fullDiskCode) throw error;
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function startFailure(file: string, error: unknown): unknown {
  if (error instanceof StartupError || !(error instanceof Error) || !('errcode' in error)) return error;
  return new StartupError(`${file} ${describe(file, error)}`, { cause: error });
}

function describe(file: string, error: Error): string {
  switch (primaryCodeOf(error)) {
    case 5:
    case 6:
      return 'is in use by another process; stop that one, or name another file.';
    case 11:
      return `is damaged (${error.message}); restore it from a backup.`;
    case 14:
      return isFolder(file)
        ? 'is a folder, not an event store file; name another file.'
        : `cannot be opened (${error.message}); check that its folder exists and may be written.`;
    case 26:
      return 'is not a SQLite file; move it away, or name another file.';
    default:
      return `cannot be used as the event store (${error.message}).`;
  }
}

/** SQLite's primary result code (https://sqlite.org/rescode.html), which is the low byte; NaN for another error. */
function primaryCodeOf(error: unknown): number {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : Number.NaN;
  return Number.isNaN(code) ? code : code & 0xff;
}

const fullDiskCode = 13;

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}
