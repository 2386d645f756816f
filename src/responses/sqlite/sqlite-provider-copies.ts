import type { SQLOutputValue } from 'node:sqlite';
import type { SqliteFile } from '#sqlite/sqlite-file.ts';
import type { SqlStatement } from '#sqlite/sqlite-writer.ts';
import type { ProviderCopies, ProviderCopy } from '../provider-copies.ts';

export const copiesSchema = `CREATE TABLE IF NOT EXISTS copies (
    project TEXT NOT NULL, id TEXT NOT NULL, model TEXT NOT NULL, target TEXT NOT NULL, key TEXT NOT NULL,
    organization TEXT NOT NULL, partner TEXT, counted INTEGER NOT NULL, checkAt INTEGER NOT NULL,
    failures INTEGER NOT NULL, PRIMARY KEY (project, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS copies_by_time ON copies (checkAt);`;
const addCopySql = 'INSERT INTO copies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const countCopySql = 'UPDATE copies SET counted = 1 WHERE project = ? AND id = ?';
const isCountedSql = `SELECT 1 WHERE NOT EXISTS
  (SELECT 1 FROM copies WHERE project = ? AND id = ? AND counted = 0)`;
const dueCopiesSql = 'SELECT * FROM copies WHERE checkAt <= ? ORDER BY checkAt LIMIT ?';
const postponeCopySql = 'UPDATE copies SET checkAt = ?, failures = ? WHERE project = ? AND id = ?';
const removeCopySql = 'DELETE FROM copies WHERE project = ? AND id = ?';
const laterCopySql = 'SELECT 1 FROM copies WHERE project = ? AND checkAt > ? LIMIT 1';
const makeDueSql = `UPDATE copies SET checkAt = ? WHERE (project, id) IN
  (SELECT project, id FROM copies WHERE project = ? AND checkAt > ? LIMIT ?)`;

/** Maximum number of rows in one statement, so that other writes of the thread do not wait long. */
const maxRowsAtOnce = 500;

/** Opens the list of copies. The file is that of the stored responses, which has the schema. */
export function openSqliteProviderCopies(file: SqliteFile): ProviderCopies {
  const write = async (sql: string, row: SqlStatement['rows'][number]) => {
    await file.write({ statements: [{ sql, rows: [row] }] });
  };
  return {
    add: (copy) => write(addCopySql, copyRowOf(copy)),
    count: async (projectId, id) => {
      const values = [projectId, id];
      const unless = { sql: isCountedSql, values };
      return (await file.write({ statements: [{ sql: countCopySql, rows: [values] }], unless })) === 'done';
    },
    due: async (time, limit) => file.rows(dueCopiesSql, time, limit).map(copyOf),
    postpone: (projectId, id, { checkAt, failures }) => write(postponeCopySql, [checkAt, failures, projectId, id]),
    makeDue: async (projectId, time) => {
      while (file.rows(laterCopySql, projectId, time).length > 0)
        await write(makeDueSql, [time, projectId, time, maxRowsAtOnce]);
    },
    remove: (projectId, id) => write(removeCopySql, [projectId, id]),
  };
}

function copyRowOf(copy: ProviderCopy): ReadonlyArray<string | number | null> {
  const { projectId, id, model, target, keyId, organizationId, partnerId, isCounted, checkAt, failures } = copy;
  return [projectId, id, model, target, keyId, organizationId, partnerId, isCounted ? 1 : 0, checkAt, failures];
}

function copyOf(row: Readonly<Record<string, SQLOutputValue>>): ProviderCopy {
  return {
    projectId: String(row.project),
    id: String(row.id),
    model: String(row.model),
    target: String(row.target),
    keyId: String(row.key),
    organizationId: String(row.organization),
    partnerId: row.partner === null ? null : String(row.partner),
    isCounted: row.counted === 1,
    checkAt: Number(row.checkAt),
    failures: Number(row.failures),
  };
}
