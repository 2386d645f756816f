import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { PageKey } from '#read-store/read-store.ts';
import { SqliteFile, type SqliteStoreOptions } from '#sqlite/sqlite-file.ts';
import { type DeliveryLog, placeOfTry } from './delivery-log.ts';

/** The most rows of one removal. The number is small, so that other writes of the thread do not wait long. */
const removedAtOnce = 1_000;

const schema = `
  CREATE TABLE IF NOT EXISTS tries (
    id TEXT NOT NULL, endpoint TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (endpoint, at, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS tries_by_time ON tries (at);
`;
const insertSql = 'INSERT OR IGNORE INTO tries (id, endpoint, at, body) VALUES (?, ?, ?, ?)';
const pageSql =
  'SELECT id, at, body FROM tries WHERE endpoint = ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?';
const oldSql = 'SELECT endpoint, at, id FROM tries WHERE at < ? ORDER BY at LIMIT ?';
const deleteSql = 'DELETE FROM tries WHERE endpoint = ? AND at = ? AND id = ?';

/**
 * Opens the log of deliveries in a separate SQLite file. A crash of the machine may lose the last tries, because of
 * `synchronous=NORMAL`.
 * @throws StartupError if the file cannot be opened
 */
export function openSqliteDeliveryLog(options: SqliteStoreOptions): DeliveryLog {
  const file = new SqliteFile({ ...options, contents: 'The tries to deliver webhooks', schema });
  return {
    add: async (tries) => {
      const rows = tries.map(({ endpointId, id, ...delivery }) => [
        id,
        endpointId,
        Date.parse(delivery.time),
        JSON.stringify(delivery),
      ]);
      if (rows.length > 0) await file.write({ statements: [{ sql: insertSql, rows }] });
    },
    page: async (endpointId, limit, after): Promise<DeliveryPage> => {
      const { order, id } = after ?? newest;
      const rows = file.rows(pageSql, endpointId, order, id, limit + 1);
      const deliveries = rows.slice(0, limit).map(({ body }) => JSON.parse(String(body)) as WebhookDelivery);
      const last = rows[limit - 1];
      const isEnd = rows.length <= limit || last === undefined;
      return { deliveries, next: isEnd ? null : { order: Number(last.at), id: String(last.id) } };
    },
    removeBefore: async (time) => {
      const { order } = placeOfTry({ time, id: '' });
      const old = file.rows(oldSql, order, removedAtOnce);
      if (old.length === 0) return false;
      const rows = old.map(({ endpoint, at, id }) => [String(endpoint), Number(at), String(id)]);
      await file.write({ statements: [{ sql: deleteSql, rows }] });
      return old.length === removedAtOnce;
    },
    close: async () => file.close(),
  };
}

const newest: PageKey = { order: Number.MAX_SAFE_INTEGER, id: '' };
