import { pino } from 'pino';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { eventStoreContract } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';

const log = pino({ level: 'silent' });

eventStoreContract('EventStoreDB (double)', async () => {
  const double = await EventStoreDbDouble.start();
  let store = openEventStoreDbEventStore({ url: double.url, log });
  return {
    store,
    async reopen() {
      await store.close();
      store = openEventStoreDbEventStore({ url: double.url, log });
      return store;
    },
    async destroy() {
      await store.close();
      await double.kill();
    },
  };
});
