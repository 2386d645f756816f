import { removeOldRows } from '#sqlite/remove-old-rows.ts';
import { SqliteFile, type SqliteStoreOptions } from '#sqlite/sqlite-file.ts';
import { type CallLog, callOf, callPageOf, type StoredCall } from './call-log.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS calls (
    id TEXT NOT NULL, project TEXT NOT NULL, at INTEGER NOT NULL, request TEXT NOT NULL, key TEXT NOT NULL,
    model TEXT NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL, bytes INTEGER NOT NULL, represented INTEGER NOT NULL,
    PRIMARY KEY (project, at, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS calls_by_request ON calls (project, request);
  CREATE INDEX IF NOT EXISTS calls_by_time ON calls (at);
  CREATE TABLE IF NOT EXISTS sizes (project TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
  CREATE TRIGGER IF NOT EXISTS call_added AFTER INSERT ON calls BEGIN
    INSERT INTO sizes (project, bytes) VALUES (new.project, new.bytes)
      ON CONFLICT (project) DO UPDATE SET bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER IF NOT EXISTS call_removed AFTER DELETE ON calls BEGIN
    UPDATE sizes SET bytes = bytes - old.bytes WHERE project = old.project;
    DELETE FROM sizes WHERE project = old.project AND bytes <= 0;
  END;
`;
/** Release 0.5.0 reads how many calls a record represents. The next release does not store it. */
const insertSql = `
  INSERT INTO calls (id, project, at, request, key, model, outcome, body, bytes, represented)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (project, at, id) DO NOTHING`;
const requestSql = 'SELECT id, at, body FROM calls WHERE project = ? AND request = ? ORDER BY at DESC, id DESC LIMIT ?';
const pageSql = `
  SELECT id, at, body FROM calls
  WHERE project = ?1 AND (at, id) < (?2, ?3) AND at >= ?4 AND (?5 IS NULL OR model = ?5)
    AND (?6 IS NULL OR outcome = ?6) AND (?7 IS NULL OR key = ?7)
  ORDER BY at DESC, id DESC LIMIT ?8`;
const oldestSql = 'SELECT id, at, bytes FROM calls WHERE project = ? ORDER BY at, id LIMIT ?';
const deleteSql = 'DELETE FROM calls WHERE project = ? AND at = ? AND id = ?';

/**
 * Opens the log in a separate SQLite file. A crash of the machine may lose the last calls, because of
 * `synchronous=NORMAL`.
 * @throws StartupError if the file cannot be opened
 */
export function openSqliteCallLog(options: SqliteStoreOptions): CallLog {
  const file = new SqliteFile({ ...options, contents: 'The records of calls', schema });
  return {
    add: async (calls) => {
      const rows = calls.map(({ id, projectId, call }) => {
        const body = JSON.stringify(call);
        const { requestId, keyId, model, outcome } = call;
        const at = Date.parse(call.time);
        return [id, projectId, at, requestId, keyId, model, outcome, body, Buffer.byteLength(body)];
      });
      if (rows.length > 0) await file.write({ statements: [{ sql: insertSql, rows }] });
    },
    ofRequest: async (projectId, requestId, limit) =>
      file.rows(requestSql, projectId, requestId, limit).map((row) => callOf(storedCallOf(row))),
    page: async (projectId, { model, outcome, keyId, from, until }, request) => {
      const { limit, after } = request;
      const end = until === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(until);
      const { order, id } = after !== null && after.order < end ? after : { order: end, id: '' };
      const start = from === undefined ? 0 : Date.parse(from);
      const filters = [model ?? null, outcome ?? null, keyId ?? null];
      const rows = file.rows(pageSql, projectId, order, id, start, ...filters, limit + 1);
      return callPageOf(rows.map(storedCallOf), request);
    },
    bytesByProject: async () => {
      const rows = file.rows('SELECT project, bytes FROM sizes');
      return new Map(rows.map(({ project, bytes }) => [String(project), Number(bytes)]));
    },
    oldest: async (projectId, limit) =>
      file.rows(oldestSql, projectId, limit).map(({ id, at, bytes }) => ({
        id: String(id),
        at: Number(at),
        bytes: Number(bytes),
      })),
    remove: async (projectId, removed) => {
      const rows = removed.map(({ at, id }) => [projectId, at, id]);
      await file.write({ statements: [{ sql: deleteSql, rows }] });
    },
    removeBefore: (time) => removeOldRows(file, { name: 'calls', key: 'project, at, id' }, time),
    close: async () => file.close(),
  };
}

function storedCallOf({ id, at, body }: ReturnType<SqliteFile['rows']>[number]): StoredCall {
  return { id: String(id), at: Number(at), body: String(body) };
}
