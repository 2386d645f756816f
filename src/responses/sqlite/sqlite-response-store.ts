import { randomUUID } from 'node:crypto';
import type { SQLOutputValue } from 'node:sqlite';
import { SqliteFile, type SqliteStoreOptions } from '#sqlite/sqlite-file.ts';
import type { SqlStatement } from '#sqlite/sqlite-writer.ts';
import { newSubject, type ResponseOutline, type ResponseStore, type StoredResponse } from '../response-store.ts';
import { responseSchema } from './response-schema.ts';
import { openSqliteProviderCopies } from './sqlite-provider-copies.ts';

/** What one statement removes beyond its first row. Names count in characters. */
const removedAtOnce = { rows: 32, bytes: 512 * 1024, nameBytes: 64 * 1024 } as const;
const secondMs = 1_000;
const largeBytes = 64 * 1024;

const columns = 'project, id, conversation, depth, previous, at, bytes, deleted, provider, background';
const insertSql = `
  INSERT INTO responses (${columns}, needs, items, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (project, id) DO NOTHING`;
const insertChainSql = `
  INSERT INTO chains (project, id, subject, ancestors) VALUES (?, ?, ?, ?) ON CONFLICT (project, id) DO NOTHING`;
const isNotOf = 'NOT EXISTS (SELECT 1 FROM subjects WHERE project = ?1 AND subject = ?2)';
const cannotAddSql = `SELECT 1 WHERE ${isNotOf} UNION ALL
  SELECT 1 FROM json_each(?3) WHERE NOT EXISTS (SELECT 1 FROM responses WHERE project = ?1 AND id = value) LIMIT 1`;
const finishSql = `
  UPDATE responses SET background = NULL, bytes = ?, content = ?, items = (SELECT json_group_array(value) FROM
    (SELECT value FROM json_each(responses.items) UNION SELECT value FROM json_each(?)))
  WHERE project = ? AND id = ?`;
const cannotFinishSql = `SELECT 1 WHERE ${isNotOf} OR
  NOT EXISTS (SELECT 1 FROM responses WHERE project = ?1 AND id = ?3 AND background IS NOT NULL)`;
const ancestorsOf = '(SELECT ancestors FROM chains WHERE chains.project = ?1 AND chains.id = responses.id)';
const findSql = `
  SELECT ${columns}, ${ancestorsOf} AS ancestors, needs, items, content FROM responses WHERE project = ?1 AND id = ?2`;
const outlinesSql = `
  SELECT ${columns}, CASE WHEN id = ?3 THEN ${ancestorsOf} END AS ancestors FROM responses
  WHERE project = ?1 AND id IN (SELECT value FROM json_each(?2))`;
const needsSql = `
  SELECT DISTINCT value FROM responses JOIN json_each(responses.needs)
  WHERE project = ? AND responses.id IN (SELECT value FROM json_each(?))`;
const contentsSql = `
  SELECT id, content FROM responses WHERE project = ? AND id IN (SELECT value FROM json_each(?))`;
/** SQL for the response that has made an item: of those, the first one that is there. */
const makerOf = (what: string, condition: string) => `(SELECT ${what} FROM items JOIN responses AS made
    ON made.project = items.project AND made.id = items.response
    WHERE items.project = ?1 AND items.id = value AND ${condition} LIMIT 1)`;
const ofItemsSql = `
  SELECT ${columns}, NULL AS ancestors FROM responses WHERE deleted = 0 AND project = ?1 AND id IN
    (SELECT ${makerOf('made.id', 'made.deleted = 0')} FROM json_each(?2) UNION SELECT value FROM json_each(?3))`;
const providersSql = `
  SELECT value AS item, ${makerOf('made.provider', 'made.deleted = 0 AND made.provider IS NOT NULL')} AS provider
  FROM json_each(?2)`;
const oldestSql = `SELECT ${columns}, NULL AS ancestors FROM responses WHERE deleted = 0 AND project = ? ORDER BY at LIMIT ?`;
const oldestAtSql = 'SELECT min(at) AS oldest FROM responses WHERE deleted = 0 AND project = ?';
const amountSql = 'SELECT count, bytes FROM amounts WHERE project = ?';
const markSql = 'UPDATE responses SET deleted = 1 WHERE project = ? AND id = ? AND deleted = 0';
/** SQL for responses that may be removable, and after them the deleted ones before each, which may be so after it. */
const unneededSql = `
  WITH RECURSIVE chain (id, step) AS (
    SELECT id, 0 FROM (SELECT id FROM removable WHERE project = ?1 LIMIT ?2) UNION ALL
    SELECT later.previous, step + 1 FROM chain JOIN responses AS later ON later.project = ?1 AND later.id = chain.id
      WHERE later.deleted = 1 AND later.previous IS NOT NULL AND step < ?2
  )
  SELECT responses.id, bytes, octet_length(items) AS nameBytes FROM chain CROSS JOIN responses
    ON responses.project = ?1 AND responses.id = chain.id WHERE deleted = 1 ORDER BY step LIMIT ?2`;
const takeMarkSql = 'DELETE FROM removable WHERE project = ? AND id = ?';
const removeUnneededSql = `DELETE FROM responses WHERE project = ?1 AND id = ?2 AND deleted = 1
  AND NOT EXISTS (SELECT 1 FROM needed WHERE project = ?1 AND id = ?2)`;
const projectsToCleanSql = `
  WITH RECURSIVE found (project) AS (
    SELECT min(project) FROM removable UNION ALL
    SELECT (SELECT min(project) FROM removable WHERE project > found.project) FROM found
      WHERE found.project IS NOT NULL LIMIT ?1
  )
  SELECT project FROM found WHERE project IS NOT NULL`;
const storedBeforeSql = 'SELECT project, id FROM responses WHERE deleted = 0 AND at < ? ORDER BY at LIMIT ?';
const freePagesSql = 'SELECT freelist_count * page_size AS bytes FROM pragma_freelist_count, pragma_page_size';
const beginErasureSql = 'INSERT INTO erasures (subject, project, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const forgetSubjectSql = 'DELETE FROM subjects WHERE project = ? AND subject = ?';
const erasedSql = `
  SELECT id, bytes, octet_length(items) AS nameBytes FROM responses WHERE project = ? AND id > ? ORDER BY id LIMIT ?`;
/** SQL that erases. A response of release 0.4 has no subject: it was stored before every erasure of this release. */
const eraseSql = `DELETE FROM responses WHERE project = ?1 AND id = ?2
  AND NOT EXISTS (SELECT 1 FROM chains WHERE project = ?1 AND id = ?2 AND subject <> ?3)`;
const erasuresSql = 'SELECT project, subject, at FROM erasures WHERE at < ? ORDER BY at LIMIT ?';
const endErasureSql = 'DELETE FROM erasures WHERE subject = ?';
const subjectSql = 'SELECT subject FROM subjects WHERE project = ?';
const addSubjectSql = 'INSERT INTO subjects (project, subject) VALUES (?, ?) ON CONFLICT DO NOTHING';

export interface SqliteResponseStoreOptions extends SqliteStoreOptions {
  /** True if there is room on the volume of the file, which keeps its required free space. Default: always. */
  readonly hasRoomFor?: (bytes: number) => Promise<boolean>;
}

/** Opens the store in a separate SQLite file. @throws StartupError if the file cannot be opened */
export function openSqliteResponseStore(options: SqliteResponseStoreOptions): ResponseStore {
  const { hasRoomFor: hasVolumeRoom = async () => true } = options;
  const file = new SqliteFile({
    ...options,
    contents: 'The stored responses',
    schema: responseSchema,
    isDurable: true,
  });
  const subjectIn = (projectId: string) => file.rows(subjectSql, projectId)[0]?.subject;
  return {
    add: async (response, subject) => {
      const { projectId, id, needs, ancestors } = response;
      const chain = [projectId, id, subject, ancestors === null ? null : JSON.stringify(ancestors)];
      const written = await file.write({
        statements: [
          { sql: insertSql, rows: [rowOf(response)] },
          { sql: insertChainSql, rows: [chain] },
        ],
        unless: { sql: cannotAddSql, values: [projectId, subject, JSON.stringify(needs)] },
      });
      if (written === 'done') return 'stored';
      return subjectIn(projectId) === subject ? 'needs-missing' : 'erased';
    },
    finish: async ({ projectId, id, bytes, items, content }, subject) => {
      const row = [bytes, content, JSON.stringify(items), projectId, id];
      const written = await file.write({
        statements: [{ sql: finishSql, rows: [row] }],
        unless: { sql: cannotFinishSql, values: [projectId, subject, id] },
      });
      if (written === 'done') return 'stored';
      return subjectIn(projectId) === subject ? 'before' : 'erased';
    },
    find: async (projectId, id) => file.rows(findSql, projectId, id).map(responseOf)[0] ?? null,
    outlines: async (projectId, ids) =>
      file.rows(outlinesSql, projectId, JSON.stringify(ids), ids.at(-1) ?? null).map(outlineOf),
    needsOf: async (projectId, ids) =>
      file.rows(needsSql, projectId, JSON.stringify(ids)).map(({ value }) => String(value)),
    file: { path: options.file, contentsSql },
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
    markDeleted: (projectId, ids) => write(file, { sql: markSql, rows: ids.map((id) => [projectId, id]) }),
    removeUnneeded: async (projectId) => {
      const ids = firstOf(file.rows(unneededSql, projectId, removedAtOnce.rows));
      const rows = ids.map((id) => [projectId, id]);
      // A removal marks what it has needed, so the marks are taken before.
      if (ids.length > 0) await write(file, { sql: takeMarkSql, rows }, { sql: removeUnneededSql, rows });
      return ids;
    },
    projectsToClean: async (limit) => file.rows(projectsToCleanSql, limit).map(({ project }) => String(project)),
    storedBefore: async (time, limit) =>
      file
        .rows(storedBeforeSql, time, limit)
        .map(({ project, id }) => ({ projectId: String(project), id: String(id) })),
    oldest: async (projectId, limit) => file.rows(oldestSql, projectId, limit).map(outlineOf),
    bytesOf: async (projectId) => Number(file.rows(amountSql, projectId)[0]?.bytes ?? 0),
    amountOf: async (projectId) => {
      const [amount] = file.rows(amountSql, projectId);
      const oldest = file.rows(oldestAtSql, projectId)[0]?.oldest ?? null;
      return {
        count: Number(amount?.count ?? 0),
        bytes: Number(amount?.bytes ?? 0),
        oldestAt: oldest === null ? null : Number(oldest),
      };
    },
    hasRoomFor: keptForSmall(async (bytes) => {
      const free = Number(file.rows(freePagesSql)[0]?.bytes ?? 0);
      return hasVolumeRoom(bytes - free);
    }),
    subjectOf: async (projectId) => {
      const known = subjectIn(projectId);
      if (known !== undefined) return String(known);
      const made = newSubject(projectId, randomUUID());
      await write(file, { sql: addSubjectSql, rows: [[projectId, made]] });
      // An erasure may have taken it already, and then nothing is stored under it.
      return String(subjectIn(projectId) ?? made);
    },
    beginErasure: ({ projectId, subject, at }) =>
      write(
        file,
        { sql: beginErasureSql, rows: [[subject, projectId, at]] },
        { sql: forgetSubjectSql, rows: [[projectId, subject]] },
      ),
    eraseSome: async ({ projectId, subject }, after) => {
      const ids = firstOf(file.rows(erasedSql, projectId, after, removedAtOnce.rows));
      if (ids.length > 0) await write(file, { sql: eraseSql, rows: ids.map((id) => [projectId, id, subject]) });
      return ids.at(-1) ?? null;
    },
    erasuresBefore: async (time, limit) =>
      file.rows(erasuresSql, time, limit).map(({ project, subject, at }) => ({
        projectId: String(project),
        subject: String(subject),
        at: Number(at),
      })),
    endErasure: ({ subject }) => write(file, { sql: endErasureSql, rows: [[subject]] }),
    copies: openSqliteProviderCopies(file),
    close: async () => file.close(),
  };
}

async function write(file: SqliteFile, ...statements: ReadonlyArray<SqlStatement>): Promise<void> {
  await file.write({ statements });
}

function firstOf(rows: ReadonlyArray<Row>): ReadonlyArray<string> {
  let [bytes, nameBytes] = [0, 0];
  const tooMuch = rows.findIndex((row, index) => {
    bytes += Number(row.bytes);
    nameBytes += Number(row.nameBytes);
    return index > 0 && (bytes > removedAtOnce.bytes || nameBytes > removedAtOnce.nameBytes);
  });
  return rows.slice(0, tooMuch < 0 ? rows.length : tooMuch).map(({ id }) => String(id));
}

/**
 * Limits how often room is asked for: once a second for small writes, because asking takes about as long as a small
 * write.
 */
function keptForSmall(hasRoomFor: (bytes: number) => Promise<boolean>): (bytes: number) => Promise<boolean> {
  let [had, until] = [true, 0];
  return async (bytes) => {
    if (bytes <= largeBytes && performance.now() < until) return had;
    const has = await hasRoomFor(bytes);
    // A refusal of a large write says nothing about small ones.
    if (bytes <= largeBytes) [had, until] = [has, performance.now() + secondMs];
    return has;
  };
}

type Row = Readonly<Record<string, SQLOutputValue>>;

function rowOf(response: StoredResponse): ReadonlyArray<string | number | null> {
  const { projectId, id, conversation, depth, previous, at, bytes, isDeleted, provider, content } = response;
  const { needs, items, background } = response;
  const outline = [projectId, id, conversation, depth, previous, at, bytes, isDeleted ? 1 : 0];
  const made = [provider, background === null ? null : JSON.stringify(background)];
  return [...outline, ...made, JSON.stringify(needs), JSON.stringify(items), content];
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
    ancestors: row.ancestors === null ? null : JSON.parse(String(row.ancestors)),
    provider: row.provider === null ? null : String(row.provider),
    background: row.background === null ? null : JSON.parse(String(row.background)),
  };
}

function responseOf(row: Row): StoredResponse {
  const [needs, items] = [JSON.parse(String(row.needs)), JSON.parse(String(row.items))];
  return { ...outlineOf(row), needs, items, content: String(row.content) };
}
