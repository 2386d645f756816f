import { DatabaseSync } from 'node:sqlite';
import { Superseded } from '#src/superseded.ts';
import { beginning, type Checkpoint, type CheckpointStore } from './checkpoint-store.ts';

/**
 * Checkpoints in a SQLite file. A lost tail (`synchronous=NORMAL`) only makes a process look at some events again.
 * @param file made when it is not there
 */
export function openSqliteCheckpointStore(file: string): CheckpointStore {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS checkpoints (process TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;
  `);
  // Files of older releases lack them.
  addColumn(database, 'last_appended', 'INTEGER NOT NULL DEFAULT 0');
  addColumn(database, 'log', 'TEXT');
  const select = database.prepare(
    'SELECT position, last_appended FROM checkpoints WHERE process = ? AND coalesce(log, ?2) = ?2',
  );
  const insert = database.prepare('INSERT OR IGNORE INTO checkpoints (process, position, log) VALUES (?, 0, ?)');
  const note = database.prepare('UPDATE checkpoints SET log = ?2 WHERE process = ?1 AND log IS NULL');
  const beginAnew = database.prepare(
    'UPDATE checkpoints SET log = ?2, position = 0, last_appended = 0 WHERE process = ?1 AND log <> ?2',
  );
  const update = database.prepare(
    'UPDATE checkpoints SET position = ?, last_appended = ? WHERE process = ? AND log = ?',
  );
  const peek = async (process: string, log: string): Promise<Checkpoint> => {
    const row = select.get(process, log);
    return row === undefined ? beginning : { position: Number(row.position), lastAppended: Number(row.last_appended) };
  };
  const write = async (process: string, log: string, { position, lastAppended }: Checkpoint): Promise<void> => {
    const { changes } = update.run(position, lastAppended, process, log);
    if (changes === 0) throw new Superseded(`The process ${process} is run on another log now.`);
  };
  return {
    read: async (process, log) => {
      for (const step of [insert, note, beginAnew]) step.run(process, log);
      return peek(process, log);
    },
    peek,
    write,
    reset: (process, log) => write(process, log, beginning),
    close: async () => database.close(),
  };
}

function addColumn(database: DatabaseSync, name: string, definition: string): void {
  const there = database.prepare("SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = ?").get(name);
  if (there === undefined) database.exec(`ALTER TABLE checkpoints ADD COLUMN ${name} ${definition}`);
}
