import type { SqliteFile } from './sqlite-file.ts';

/** Number of rows that are removed together. Small, so that other writes of the thread do not wait long. */
const removedAtOnce = 1_000;

/** A table whose column `at` is a time in ms since 1970, with an index. */
export interface TableOfTimes {
  readonly name: string;
  /** The columns of its primary key, with commas. */
  readonly key: string;
}

/**
 * @param before RFC 3339
 * @returns whether more may be left
 * @throws UnavailableError
 */
export async function removeOldRows(file: SqliteFile, { name, key }: TableOfTimes, time: string): Promise<boolean> {
  const oldest = `FROM ${name} WHERE at < ? ORDER BY at LIMIT ?`;
  const values = [Date.parse(time), removedAtOnce] as const;
  const found = file.rows(`SELECT 1 ${oldest}`, ...values);
  if (found.length === 0) return false;
  const sql = `DELETE FROM ${name} WHERE (${key}) IN (SELECT ${key} ${oldest})`;
  await file.write({ statements: [{ sql, rows: [values] }] });
  return found.length === removedAtOnce;
}
