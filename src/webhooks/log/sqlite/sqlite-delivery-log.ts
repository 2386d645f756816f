import { DatabaseSync } from 'node:sqlite';
import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { PageKey } from '#read-store/read-store.ts';
import { inTransaction } from '#shared/database/in-transaction.ts';
import { type DeliveryLog, placeOfTry } from '#webhooks/log/delivery-log.ts';

/** The rows of one removal. The number is small because the thread that serves requests removes them. */
const removedAtOnce = 1_000;

/**
 * Opens the log of deliveries in a separate SQLite file. A crash of the machine may lose the last tries, because of
 * `synchronous=NORMAL`.
 * @param file created if it does not exist
 */
export function openSqliteDeliveryLog(file: string): DeliveryLog {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS tries (
      id TEXT NOT NULL, endpoint TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
      PRIMARY KEY (endpoint, at, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS tries_by_time ON tries (at);
  `);
  const insert = database.prepare('INSERT OR IGNORE INTO tries (id, endpoint, at, body) VALUES (?, ?, ?, ?)');
  const select = database.prepare(
    'SELECT id, at, body FROM tries WHERE endpoint = ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?',
  );
  const selectOld = database.prepare('SELECT endpoint, at, id FROM tries WHERE at < ? ORDER BY at LIMIT ?');
  const deleteOne = database.prepare('DELETE FROM tries WHERE endpoint = ? AND at = ? AND id = ?');
  return {
    add: async (tries) =>
      inTransaction(database, () => {
        for (const { endpointId, id, ...delivery } of tries) {
          insert.run(id, endpointId, Date.parse(delivery.time), JSON.stringify(delivery));
        }
      }),
    page: async (endpointId, limit, after): Promise<DeliveryPage> => {
      const { order, id } = after ?? newest;
      const rows = select.all(endpointId, order, id, limit + 1);
      const deliveries = rows.slice(0, limit).map(({ body }) => JSON.parse(String(body)) as WebhookDelivery);
      const last = rows[limit - 1];
      const isEnd = rows.length <= limit || last === undefined;
      return { deliveries, next: isEnd ? null : { order: Number(last.at), id: String(last.id) } };
    },
    removeBefore: async (time) => {
      const { order } = placeOfTry({ time, id: '' });
      const old = selectOld.all(order, removedAtOnce);
      inTransaction(database, () => {
        for (const { endpoint, at, id } of old) deleteOne.run(String(endpoint), Number(at), String(id));
      });
      return old.length === removedAtOnce;
    },
    close: async () => database.close(),
  };
}

const newest: PageKey = { order: Number.MAX_SAFE_INTEGER, id: '' };
