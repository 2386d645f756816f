import { DatabaseSync } from 'node:sqlite';
import type { EventFailure } from '#domain/shared/event-failure.ts';
import {
  type Checkpoint,
  type CheckpointStore,
  startOfLog,
  type WatchedCheckpoint,
  watchedCheckpoint,
} from '#process-engine/checkpoints/checkpoint-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';

/**
 * Checkpoints in a SQLite file. If a crash loses the last writes (`synchronous=NORMAL`), a process only sees some
 * events again.
 * @param file is created if it does not exist
 */
export function openSqliteCheckpointStore(file: string): CheckpointStore {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS checkpoints (process TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;
  `);
  // Files of older releases do not have these columns.
  addColumn(database, 'last_appended', 'INTEGER NOT NULL DEFAULT 0');
  addColumn(database, 'log', 'TEXT');
  addColumn(database, 'failure', 'TEXT');
  const select = database.prepare(
    'SELECT position, last_appended, failure FROM checkpoints WHERE process = ? AND coalesce(log, ?2) = ?2',
  );
  const insert = database.prepare('INSERT OR IGNORE INTO checkpoints (process, position, log) VALUES (?, 0, ?)');
  const note = database.prepare('UPDATE checkpoints SET log = ?2 WHERE process = ?1 AND log IS NULL');
  const resetForLog = database.prepare(
    'UPDATE checkpoints SET log = ?2, position = 0, last_appended = 0, failure = NULL WHERE process = ?1 AND log <> ?2',
  );
  const update = database.prepare(
    'UPDATE checkpoints SET position = ?, last_appended = ? WHERE process = ? AND log = ?',
  );
  const updateFailure = database.prepare('UPDATE checkpoints SET failure = ? WHERE process = ? AND log = ?');
  const peek = async (process: string, log: string): Promise<WatchedCheckpoint> => {
    const row = select.get(process, log);
    if (row === undefined) return watchedCheckpoint(startOfLog, null);
    const failure = row.failure === null ? null : (JSON.parse(String(row.failure)) as EventFailure);
    return watchedCheckpoint({ position: Number(row.position), lastAppended: Number(row.last_appended) }, failure);
  };
  const mustBeOwn = (process: string, changes: number | bigint): void => {
    if (Number(changes) === 0) throw new FencedError(`The process ${process} is run on another log now.`);
  };
  const write = async (process: string, log: string, { position, lastAppended }: Checkpoint): Promise<void> => {
    mustBeOwn(process, update.run(position, lastAppended, process, log).changes);
  };
  const writeFailure = async (process: string, log: string, failure: EventFailure | null): Promise<void> => {
    const stored = failure === null ? null : JSON.stringify(failure);
    mustBeOwn(process, updateFailure.run(stored, process, log).changes);
  };
  return {
    read: async (process, log) => {
      for (const step of [insert, note, resetForLog]) step.run(process, log);
      const { position, lastAppended } = await peek(process, log);
      return { position, lastAppended };
    },
    peek,
    write,
    writeFailure,
    reset: async (process, log) => {
      await write(process, log, startOfLog);
      await writeFailure(process, log, null);
    },
    close: async () => database.close(),
  };
}

function addColumn(database: DatabaseSync, name: string, definition: string): void {
  const there = database.prepare("SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = ?").get(name);
  if (there === undefined) database.exec(`ALTER TABLE checkpoints ADD COLUMN ${name} ${definition}`);
}
