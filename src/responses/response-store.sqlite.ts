import { randomUUID } from 'node:crypto';
import type { SQLOutputValue } from 'node:sqlite';
import { SqliteFile, type SqliteStoreOptions } from '#sqlite/sqlite-file.ts';
import type { SqlStatement, SqlWrite } from '#sqlite/sqlite-writer.ts';
import type { ProviderCopies, ProviderCopy } from './provider-copies.ts';
import { newSubject, type ResponseOutline, type ResponseStore, type StoredResponse } from './response-store.ts';

/**
 * The content is the last column, so that outlines are read without it. What later releases have added to a response is
 * in a table of its own for the same reason. Triggers and indexes of release 0.4 are dropped.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS responses (
    project TEXT NOT NULL, id TEXT NOT NULL, conversation TEXT NOT NULL, depth INTEGER NOT NULL, previous TEXT,
    at INTEGER NOT NULL, bytes INTEGER NOT NULL, deleted INTEGER NOT NULL, needs TEXT NOT NULL, items TEXT NOT NULL,
    provider TEXT, background TEXT, content TEXT NOT NULL, UNIQUE (project, id)
  ) STRICT;
  DROP INDEX IF EXISTS responses_by_conversation;
  CREATE INDEX IF NOT EXISTS responses_by_time ON responses (project, at) WHERE deleted = 0;
  CREATE TABLE IF NOT EXISTS chains (
    project TEXT NOT NULL, id TEXT NOT NULL, ancestors TEXT NOT NULL, UNIQUE (project, id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS needed (
    project TEXT NOT NULL, id TEXT NOT NULL, response TEXT NOT NULL, PRIMARY KEY (project, id, response)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS items (
    project TEXT NOT NULL, id TEXT NOT NULL, response TEXT NOT NULL, PRIMARY KEY (project, id, response)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS amounts (
    project TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS subjects (project TEXT PRIMARY KEY, subject TEXT NOT NULL) STRICT;
  CREATE TRIGGER IF NOT EXISTS needs_added AFTER INSERT ON responses WHEN new.needs <> '[]' BEGIN
    INSERT INTO needed SELECT new.project, value, new.id FROM json_each(new.needs);
  END;
  CREATE TRIGGER IF NOT EXISTS items_added AFTER INSERT ON responses WHEN new.items <> '[]' BEGIN
    INSERT INTO items SELECT new.project, value, new.id FROM json_each(new.items);
  END;
  CREATE TRIGGER IF NOT EXISTS response_added AFTER INSERT ON responses BEGIN
    INSERT INTO amounts (project, count, bytes) VALUES (new.project, 1, new.bytes)
      ON CONFLICT (project) DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
  END;
  DROP TRIGGER IF EXISTS response_deleted;
  CREATE TRIGGER IF NOT EXISTS response_marked AFTER UPDATE OF deleted ON responses WHEN new.deleted > old.deleted BEGIN
    DELETE FROM items WHERE (project, id, response) IN (SELECT old.project, value, old.id FROM json_each(old.items));
    UPDATE amounts SET count = count - 1 WHERE project = old.project;
  END;
  CREATE TRIGGER IF NOT EXISTS response_finished AFTER UPDATE OF content ON responses BEGIN
    INSERT OR IGNORE INTO items SELECT new.project, value, new.id FROM json_each(new.items);
    UPDATE amounts SET bytes = bytes - old.bytes + new.bytes WHERE project = old.project;
  END;
  DROP TRIGGER IF EXISTS response_removed;
  CREATE TRIGGER IF NOT EXISTS response_gone AFTER DELETE ON responses BEGIN
    DELETE FROM chains WHERE project = old.project AND id = old.id;
    DELETE FROM needed WHERE (project, id, response) IN (SELECT old.project, value, old.id FROM json_each(old.needs));
    DELETE FROM items WHERE (project, id, response) IN (SELECT old.project, value, old.id FROM json_each(old.items));
    UPDATE amounts SET count = count - 1 + old.deleted, bytes = bytes - old.bytes WHERE project = old.project;
    DELETE FROM amounts WHERE project = old.project AND bytes <= 0;
  END;
  CREATE TABLE IF NOT EXISTS copies (
    project TEXT NOT NULL, id TEXT NOT NULL, model TEXT NOT NULL, target TEXT NOT NULL, key TEXT NOT NULL,
    organization TEXT NOT NULL, partner TEXT, counted INTEGER NOT NULL, checkAt INTEGER NOT NULL,
    failures INTEGER NOT NULL, PRIMARY KEY (project, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS copies_by_time ON copies (checkAt);
`;
const columns = 'project, id, conversation, depth, previous, at, bytes, deleted, needs, provider, background';
const insertSql = `
  INSERT INTO responses (${columns}, items, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (project, id) DO NOTHING`;
const insertChainSql =
  'INSERT INTO chains (project, id, ancestors) VALUES (?, ?, ?) ON CONFLICT (project, id) DO NOTHING';
const lacksNeededSql = `
  SELECT 1 FROM json_each(?2) WHERE NOT EXISTS (SELECT 1 FROM responses WHERE project = ?1 AND id = value) LIMIT 1`;
const finishSql = `
  UPDATE responses SET background = NULL, bytes = ?, content = ?, items = (SELECT json_group_array(value) FROM
    (SELECT value FROM json_each(responses.items) UNION SELECT value FROM json_each(?)))
  WHERE project = ? AND id = ?`;
const isFinishedSql = `SELECT 1 WHERE NOT EXISTS
  (SELECT 1 FROM responses WHERE project = ? AND id = ? AND background IS NOT NULL)`;
const ancestorsOf = '(SELECT ancestors FROM chains WHERE chains.project = ?1 AND chains.id = responses.id)';
const findSql = `
  SELECT ${columns}, ${ancestorsOf} AS ancestors, items, content FROM responses WHERE project = ?1 AND id = ?2`;
const outlinesSql = `
  SELECT ${columns}, CASE WHEN id = ?3 THEN ${ancestorsOf} END AS ancestors FROM responses
  WHERE project = ?1 AND id IN (SELECT value FROM json_each(?2))`;
const contentsSql = `
  SELECT id, content FROM responses WHERE project = ? AND id IN (SELECT value FROM json_each(?))`;
/** Of the responses that have made an item, the first one that is there. */
const makerOf = (what: string, condition: string) => `(SELECT ${what} FROM items JOIN responses AS made
    ON made.project = items.project AND made.id = items.response
    WHERE items.project = ?1 AND items.id = value AND ${condition} LIMIT 1)`;
const ofItemsSql = `
  SELECT ${columns}, NULL AS ancestors FROM responses WHERE deleted = 0 AND project = ?1 AND id IN
    (SELECT ${makerOf('made.id', 'made.deleted = 0')} FROM json_each(?2) UNION SELECT value FROM json_each(?3))`;
const providersSql = `
  SELECT value AS item, ${makerOf('made.provider', 'made.deleted = 0 AND made.provider IS NOT NULL')} AS provider
  FROM json_each(?2)`;
const neededSql = `
  SELECT 1 FROM needed WHERE project = ? AND id = ? AND response NOT IN (SELECT value FROM json_each(?)) LIMIT 1`;
const anyNeededSql = `
  SELECT 1 FROM needed WHERE project = ?1 AND id IN (SELECT value FROM json_each(?2))
    AND response NOT IN (SELECT value FROM json_each(?2)) LIMIT 1`;
const markSql = 'UPDATE responses SET deleted = 1 WHERE project = ? AND id = ? AND deleted = 0';
const removeSql = 'DELETE FROM responses WHERE project = ? AND id = ?';
const oldestSql = `SELECT ${columns}, NULL AS ancestors FROM responses WHERE deleted = 0 AND project = ? ORDER BY at LIMIT ?`;
const oldestAtSql = 'SELECT min(at) AS oldest FROM responses WHERE deleted = 0 AND project = ?';
const amountsSql = 'SELECT project, bytes FROM amounts';
const amountSql = 'SELECT count, bytes FROM amounts WHERE project = ?';
const subjectSql = 'SELECT subject FROM subjects WHERE project = ?';
const addSubjectSql = 'INSERT INTO subjects (project, subject) VALUES (?, ?) ON CONFLICT DO NOTHING';
const forgetSql = 'DELETE FROM subjects WHERE project = ? AND subject = ?';
const removeProjectSql = 'DELETE FROM responses WHERE project = ?';
const addCopySql = 'INSERT INTO copies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const countCopySql = 'UPDATE copies SET counted = 1 WHERE project = ? AND id = ?';
const isCountedSql = `SELECT 1 WHERE NOT EXISTS
  (SELECT 1 FROM copies WHERE project = ? AND id = ? AND counted = 0)`;
const dueCopiesSql = 'SELECT * FROM copies WHERE checkAt <= ? ORDER BY checkAt LIMIT ?';
const postponeCopySql = 'UPDATE copies SET checkAt = ?, failures = ? WHERE project = ? AND id = ?';
const removeCopySql = 'DELETE FROM copies WHERE project = ? AND id = ?';

/**
 * Opens stored responses in a separate SQLite file.
 * @throws StartupError if the file cannot be opened
 */
export function openSqliteResponseStore(options: SqliteStoreOptions): ResponseStore {
  const file = new SqliteFile({ ...options, contents: 'The stored responses', schema, isDurable: true });
  const subjectIn = (projectId: string) => file.rows(subjectSql, projectId)[0]?.subject;
  return {
    add: async (response) => {
      const { projectId, id, needs, ancestors } = response;
      const statements = [{ sql: insertSql, rows: [rowOf(response)] }];
      const chain = [projectId, id, JSON.stringify(ancestors)];
      if (ancestors !== null) statements.push({ sql: insertChainSql, rows: [chain] });
      if (needs.length === 0) return writeUnless(file, statements);
      return writeUnless(file, statements, { sql: lacksNeededSql, values: [projectId, JSON.stringify(needs)] });
    },
    finish: async ({ projectId, id, bytes, items, content }) => {
      const row = [bytes, content, JSON.stringify(items), projectId, id];
      return writeUnless(file, [{ sql: finishSql, rows: [row] }], { sql: isFinishedSql, values: [projectId, id] });
    },
    find: async (projectId, id) => file.rows(findSql, projectId, id).map(responseOf)[0] ?? null,
    outlines: async (projectId, ids) =>
      file.rows(outlinesSql, projectId, JSON.stringify(ids), ids.at(-1) ?? null).map(outlineOf),
    contents: async (projectId, ids) => {
      const rows = file.rows(contentsSql, projectId, JSON.stringify(ids));
      return new Map(rows.map(({ id, content }) => [String(id), String(content)]));
    },
    ofItems: async (projectId, items, ids) =>
      file.rows(ofItemsSql, projectId, JSON.stringify(items), JSON.stringify(ids)).map(outlineOf),
    providersOf: async (projectId, items) => {
      const rows = file.rows(providersSql, projectId, JSON.stringify(items));
      const found = rows.filter(({ provider }) => provider !== null);
      return new Map(found.map(({ item, provider }) => [String(item), String(provider)]));
    },
    isNeeded: async (projectId, id, except) => file.rows(neededSql, projectId, id, JSON.stringify(except)).length > 0,
    markDeleted: (projectId, id) => writeRow(file, markSql, [projectId, id]),
    remove: async (projectId, ids) => {
      const rows = ids.map((id) => [projectId, id]);
      return writeUnless(file, [{ sql: removeSql, rows }], {
        sql: anyNeededSql,
        values: [projectId, JSON.stringify(ids)],
      });
    },
    oldest: async (projectId, limit) => file.rows(oldestSql, projectId, limit).map(outlineOf),
    bytesByProject: async () =>
      new Map(file.rows(amountsSql).map(({ project, bytes }) => [String(project), Number(bytes)])),
    amountOf: async (projectId) => {
      const [amount] = file.rows(amountSql, projectId);
      const oldest = file.rows(oldestAtSql, projectId)[0]?.oldest ?? null;
      return {
        count: Number(amount?.count ?? 0),
        bytes: Number(amount?.bytes ?? 0),
        oldestAt: oldest === null ? null : Number(oldest),
      };
    },
    subjectOf: async (projectId) => {
      const known = subjectIn(projectId);
      if (known !== undefined) return String(known);
      await writeRow(file, addSubjectSql, [projectId, newSubject(projectId, randomUUID())]);
      return String(subjectIn(projectId));
    },
    forgetSubject: (projectId, subject) => writeRow(file, forgetSql, [projectId, subject]),
    removeProject: (projectId) => writeRow(file, removeProjectSql, [projectId]),
    copies: openCopies(file),
    close: async () => file.close(),
  };
}

/** Executes statements. @returns false if the query `unless` has found a row, so that nothing was written */
async function writeUnless(
  file: SqliteFile,
  statements: ReadonlyArray<SqlStatement>,
  unless?: SqlWrite['unless'],
): Promise<boolean> {
  const write = unless === undefined ? {} : { unless };
  return (await file.write({ statements, ...write })) === 'done';
}

async function writeRow(file: SqliteFile, sql: string, row: SqlStatement['rows'][number]): Promise<void> {
  await file.write({ statements: [{ sql, rows: [row] }] });
}

type Row = Readonly<Record<string, SQLOutputValue>>;

function rowOf(response: StoredResponse): ReadonlyArray<string | number | null> {
  const { projectId, id, conversation, depth, previous, at, bytes, isDeleted, provider, content } = response;
  const { needs, items, background } = response;
  const outline = [projectId, id, conversation, depth, previous, at, bytes, isDeleted ? 1 : 0, JSON.stringify(needs)];
  const made = [provider, background === null ? null : JSON.stringify(background)];
  return [...outline, ...made, JSON.stringify(items), content];
}

function outlineOf(row: Row): ResponseOutline {
  return {
    projectId: String(row.project),
    id: String(row.id),
    conversation: String(row.conversation),
    depth: Number(row.depth),
    previous: row.previous === null ? null : String(row.previous),
    at: Number(row.at),
    bytes: Number(row.bytes),
    isDeleted: row.deleted === 1,
    needs: JSON.parse(String(row.needs)),
    ancestors: row.ancestors === null ? null : JSON.parse(String(row.ancestors)),
    provider: row.provider === null ? null : String(row.provider),
    background: row.background === null ? null : JSON.parse(String(row.background)),
  };
}

function responseOf(row: Row): StoredResponse {
  return { ...outlineOf(row), items: JSON.parse(String(row.items)), content: String(row.content) };
}

function openCopies(file: SqliteFile): ProviderCopies {
  return {
    add: (copy) => writeRow(file, addCopySql, copyRowOf(copy)),
    count: async (projectId, id) => {
      const values = [projectId, id];
      return writeUnless(file, [{ sql: countCopySql, rows: [values] }], { sql: isCountedSql, values });
    },
    due: async (time, limit) => file.rows(dueCopiesSql, time, limit).map(copyOf),
    postpone: (projectId, id, { checkAt, failures }) =>
      writeRow(file, postponeCopySql, [checkAt, failures, projectId, id]),
    remove: (projectId, id) => writeRow(file, removeCopySql, [projectId, id]),
  };
}

function copyRowOf(copy: ProviderCopy): ReadonlyArray<string | number | null> {
  const { projectId, id, model, target, keyId, organizationId, partnerId, isCounted, checkAt, failures } = copy;
  return [projectId, id, model, target, keyId, organizationId, partnerId, isCounted ? 1 : 0, checkAt, failures];
}

function copyOf(row: Row): ProviderCopy {
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
