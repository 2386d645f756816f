import { DatabaseSync } from 'node:sqlite';
import type { CheckpointStore } from './checkpoint-store.ts';

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
  const select = database.prepare('SELECT position FROM checkpoints WHERE process = ?');
  const upsert = database.prepare(
    'INSERT INTO checkpoints VALUES (?, ?) ON CONFLICT (process) DO UPDATE SET position = excluded.position',
  );
  return {
    read: async (process) => Number(select.get(process)?.position ?? 0),
    write: async (process, position) => {
      upsert.run(process, position);
    },
    close: async () => database.close(),
  };
}
