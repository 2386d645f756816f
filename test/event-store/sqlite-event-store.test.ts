import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { eventStoreContract } from '#test/contract/event-store.ts';

eventStoreContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-event-store-'));
  const file = join(folder, 'events.sqlite');
  let store = await openSqliteEventStore({ file });
  return {
    store,
    async reopen() {
      await store.close();
      store = await openSqliteEventStore({ file });
      return store;
    },
    async destroy() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
