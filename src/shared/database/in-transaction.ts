import type { DatabaseSync } from 'node:sqlite';

/** Does work within a transaction, which is rolled back when the work or the commit throws. @throws what they throw */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // Some errors (a full disk) have rolled it back already.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
