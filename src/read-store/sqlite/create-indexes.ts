import type { DatabaseSync } from 'node:sqlite';
import type { Generation } from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { DeferredTransaction } from './deferred-transaction.ts';
import * as table from './document-table.ts';

/** Maximum memory for the entries that are sorted at a time. SQLite takes its page cache as the limit. */
const maxSortKilobytes = 4096;

/**
 * Creates each index in a transaction of its own.
 * @throws UnavailableError if there is no space, neither for the indexes nor for sorting
 */
export function createIndexes(database: DatabaseSync, transaction: DeferredTransaction, generation: Generation): void {
  const cached = database.prepare('PRAGMA cache_size').get()?.cache_size;
  database.exec(`PRAGMA cache_size = -${maxSortKilobytes}`);
  try {
    createAll(database, transaction, generation, 'FILE');
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    // There may be no folder for temporary files, or no space in it.
    createAll(database, transaction, generation, 'MEMORY');
  } finally {
    database.exec(`PRAGMA cache_size = ${cached}`);
  }
}

/** @param temporary where entries are sorted; an index of millions of entries would fill the memory */
function createAll(
  database: DatabaseSync,
  transaction: DeferredTransaction,
  { number, indexes }: Generation,
  temporary: 'FILE' | 'MEMORY',
): void {
  database.exec(`PRAGMA temp_store = ${temporary}`);
  try {
    for (const statement of table.indexStatements(number, indexes)) transaction.run(() => database.exec(statement));
  } finally {
    database.exec('PRAGMA temp_store = MEMORY');
  }
}
