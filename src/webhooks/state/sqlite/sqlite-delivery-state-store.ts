import { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '#shared/database/in-transaction.ts';
import type { DeliveryState } from '#webhooks/state/delivery-state.ts';
import type { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';
import { followedKey, readState } from '#webhooks/state/stored-state.ts';

/**
 * Opens the store of delivery states in the SQLite file with the checkpoints of processes. One operating system process
 * owns the file, so no write needs a fencing token. If a crash of the machine loses the last writes
 * (`synchronous=NORMAL`), some deliveries are repeated.
 * @param file created if it does not exist
 */
export function openSqliteDeliveryStateStore(file: string): DeliveryStateStore {
  const database = new DatabaseSync(file, { timeout: 1_000 });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS webhook_deliveries (endpoint TEXT PRIMARY KEY, log TEXT NOT NULL, state TEXT NOT NULL) STRICT;
  `);
  const selectAll = database.prepare('SELECT endpoint, state FROM webhook_deliveries WHERE log = ?');
  const selectOne = database.prepare('SELECT state FROM webhook_deliveries WHERE endpoint = ?');
  const upsert = database.prepare(
    'INSERT INTO webhook_deliveries (endpoint, log, state) VALUES (?1, ?2, ?3) ON CONFLICT (endpoint) DO UPDATE SET log = ?2, state = ?3',
  );
  const deleteOne = database.prepare('DELETE FROM webhook_deliveries WHERE endpoint = ?');
  return {
    acquire: async (log) => {
      const states = new Map<string, DeliveryState>();
      let followed: number | null = null;
      for (const { endpoint, state } of selectAll.all(log)) {
        if (endpoint === followedKey) followed = Number(state);
        else keep(states, String(endpoint), readState(String(state)));
      }
      return { followed, states };
    },
    write: async (log, states, followed) =>
      inTransaction(database, () => {
        for (const [endpoint, state] of states) upsert.run(endpoint, log, JSON.stringify(state));
        upsert.run(followedKey, log, String(followed));
      }),
    remove: async (endpointIds) =>
      inTransaction(database, () => {
        for (const endpoint of endpointIds) deleteOne.run(endpoint);
      }),
    peek: async (endpointId) => {
      const row = selectOne.get(endpointId);
      return row === undefined ? null : readState(String(row.state));
    },
    close: async () => database.close(),
  };
}

function keep(states: Map<string, DeliveryState>, endpoint: string, state: DeliveryState | null): void {
  if (state !== null) states.set(endpoint, state);
}
