import type { DatabaseSync } from 'node:sqlite';

/** Does work in a transaction, which is rolled back if the work or the commit throws. @throws what they throw */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // Some errors, such as a full disk, roll the transaction back themselves.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
