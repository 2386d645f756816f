import assert from 'node:assert/strict';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import {
  eventStoreContract,
  mustAppend,
  type OpenedEventStore,
  someEvents,
  someStream,
} from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';

const realServer = process.env.EVENTSTOREDB_TEST_URL;

eventStoreContract('EventStoreDB (double)', async () => {
  const double = await EventStoreDbDouble.start();
  return openedOn(double.url, () => double.kill());
});

describe('EventStoreDB event store: reading the log', function () {
  this.timeout(60_000);

  it('gathers the events that the server sends one by one', async () => {
    const double = await EventStoreDbDouble.start();
    const { store, destroy } = openedOn(double.url, () => double.kill());
    try {
      await mustAppend(store, someStream(), noStream, someEvents(1_000));
      const sizes: number[] = [];
      for await (const batch of store.subscribe({ after: 0, signal: AbortSignal.timeout(10_000) })) {
        sizes.push(batch.events.length);
        if (batch.caughtUp) break;
      }
      assert.equal(
        sizes.reduce((sum, size) => sum + size, 0),
        1_000,
      );
      assert.ok(sizes.length <= 100, `${sizes.length} batches`);
    } finally {
      await destroy();
    }
  });
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
