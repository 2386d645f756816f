import { pino } from 'pino';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { eventStoreContract, type OpenedEventStore } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';

const realServer = process.env.EVENTSTOREDB_TEST_URL;

eventStoreContract('EventStoreDB (double)', async () => {
  const double = await EventStoreDbDouble.start();
  return openedOn(double.url, () => double.kill());
});

// Its log may hold anything; the contract's tests keep to streams of their own.
if (realServer !== undefined)
  eventStoreContract('EventStoreDB (EVENTSTOREDB_TEST_URL)', async () => openedOn(realServer, async () => {}));

function openedOn(url: string, end: () => Promise<void>): OpenedEventStore {
  const open = () => openEventStoreDbEventStore({ url, log: pino({ level: 'silent' }) });
  let store = open();
  return {
    store,
    async reopen() {
      await store.close();
      store = open();
      return store;
    },
    async destroy() {
      await store.close();
      await end();
    },
  };
}
