import { DatabaseSync } from 'node:sqlite';
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
  addLastAppended(database);
  const select = database.prepare('SELECT position, last_appended FROM checkpoints WHERE process = ?');
  const upsert = database.prepare(
    `INSERT INTO checkpoints (process, position, last_appended) VALUES (?, ?, ?)
     ON CONFLICT (process) DO UPDATE SET position = excluded.position, last_appended = excluded.last_appended`,
  );
  const read = async (process: string): Promise<Checkpoint> => {
    const row = select.get(process);
    return row === undefined ? beginning : { position: Number(row.position), lastAppended: Number(row.last_appended) };
  };
  return {
    read,
    peek: read,
    write: async (process, { position, lastAppended }) => {
      upsert.run(process, position, lastAppended);
    },
    close: async () => database.close(),
  };
}

/** Files of older releases lack it. */
function addLastAppended(database: DatabaseSync): void {
  const there = database.prepare("SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = 'last_appended'").get();
  if (there === undefined) {
    database.exec('ALTER TABLE checkpoints ADD COLUMN last_appended INTEGER NOT NULL DEFAULT 0');
  }
}
