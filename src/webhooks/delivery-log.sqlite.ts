import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { PageKey } from '#read-store/read-store.ts';
import { removeOldRows } from '#sqlite/remove-old-rows.ts';
import { SqliteFile, type SqliteStoreOptions } from '#sqlite/sqlite-file.ts';
import type { DeliveryLog } from './delivery-log.ts';

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

/**
 * Opens the log in a separate SQLite file. A crash of the machine may lose the last tries, because of
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
    removeBefore: (time) => removeOldRows(file, { name: 'tries', key: 'endpoint, at, id' }, time),
    close: async () => file.close(),
  };
}

const newest: PageKey = { order: Number.MAX_SAFE_INTEGER, id: '' };
