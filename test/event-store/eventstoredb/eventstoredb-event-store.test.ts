import assert from 'node:assert/strict';
import { EventStoreDBClient } from '@eventstore/db-client';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbOptions,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { collect, eventStoreContract, mustAppend, someEvents, someStream } from '#test/contract/event-store.ts';
import { logTailContract } from '#test/contract/log-tail.ts';
import { streamRemovalContract } from '#test/contract/stream-removal.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';

const realServer = process.env.EVENTSTOREDB_TEST_URL;

eventStoreContract('EventStoreDB (double)', openOnDouble);
logTailContract('EventStoreDB (double)', openOnDouble);
streamRemovalContract('EventStoreDB (double)', openOnDouble);

describe('EventStoreDbEventStore.removeStream', () => {
  it('fails as unavailable while the server is away, and removes the stream once it is back', async () => {
    const double = await EventStoreDbDouble.start();
    const { store, destroy } = openedOn(double.url, () => double.kill(), {});
    try {
      await mustAppend(store, 'usage-2026-01-05-node', noStream, someEvents(3));
      await double.kill();
      await assert.rejects(store.removeStream('usage-2026-01-05-node', 2), UnavailableError);
      await double.start();
      await eventually(() => store.removeStream('usage-2026-01-05-node', 2).catch(() => false));
      const isRead = () => store.readRaw('usage-2026-01-05-node', 0, 10).then(({ length }) => length === 0);
      await eventually(() => isRead().catch(() => false));
    } finally {
      await destroy();
    }
  }).timeout(60_000);

  it('succeeds when the stream is removed already at a later revision', async () => {
    const double = await EventStoreDbDouble.start();
    const { store, destroy } = openedOn(double.url, () => double.kill());
    try {
      await mustAppend(store, 'usage-2026-01-05-node', noStream, someEvents(3));
      assert.equal(await store.removeStream('usage-2026-01-05-node', 2), true);
      // A caller with an older revision finds the stream already removed.
      assert.equal(await store.removeStream('usage-2026-01-05-node', 1), true);
    } finally {
      await destroy();
    }
  });
});

describe('the tail of EventStoreDB', function () {
  this.timeout(60_000);

  it('batches events that the server sends one by one', async () => {
    const double = await EventStoreDbDouble.start();
    const { store, destroy } = openedOn(double.url, () => double.kill());
    try {
      await mustAppend(store, someStream(), noStream, someEvents(1_000));
      const sizes: number[] = [];
      await collect(store, { after: 0 }, (_, batch) => {
        sizes.push(batch.events.length);
        return batch.caughtUp;
      });
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

// The log of a real server may hold other events; the contract's tests use only their own streams.
if (realServer !== undefined) {
  eventStoreContract('EventStoreDB (EVENTSTOREDB_TEST_URL)', async () => openedOn(realServer, async () => {}));
  logTailContract('EventStoreDB (EVENTSTOREDB_TEST_URL)', async () => openedOn(realServer, async () => {}));
}

async function openOnDouble() {
  const double = await EventStoreDbDouble.start();
  return openedOn(double.url, () => double.kill());
}

/** Patient, because most of these tests check results and not times. */
const patient = { answerWithinMs: 60_000, attemptMs: 30_000, readWithinMs: 60_000, retriesWhenUnavailable: true };

function openedOn(url: string, end: () => Promise<void>, retryLimits: Partial<EventStoreDbOptions> = patient) {
  const log = pino({ level: 'silent' });
  const open = () => openEventStoreDbEventStore({ url, streamPrefix: 'test.', log, ...retryLimits });
  let store = open();
  return {
    store,
    async hideBefore(stream: string, revision: number) {
      const client = EventStoreDBClient.connectionString(url);
      await client.setStreamMetadata(`test.${stream}`, { truncateBefore: revision });
      await client.dispose();
    },
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
