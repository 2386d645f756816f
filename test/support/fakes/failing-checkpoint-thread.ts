import { DatabaseSync } from 'node:sqlite';

/** A writer thread whose disk fails whenever a write-ahead log is emptied. */
const { prepare } = DatabaseSync.prototype;

DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql) {
  if (sql.includes('wal_checkpoint')) throw new Error('disk I/O error');
  return prepare.call(this, sql);
};

await import('#sqlite/sqlite-writer-thread.ts');
