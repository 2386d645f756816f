import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPlace, logUntil } from '#cli/replay/log-until.ts';
import { noStream } from '#event-store/event-store.ts';
import { openSqliteEventStore, type SqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { mustAppend, someEvent, someMetadata } from '#test/contract/event-store.ts';
import { batchesOf, tailOf } from '#test/support/log/tail-of.ts';

/** The times of the events of a log, in minutes past nine. */
const minutes = [1, 2, 4, 3, 6, 5];
const timeOf = (minute: number) => `2026-01-05T09:0${minute}:00.000Z`;
const { signal } = new AbortController();

describe('a log until a moment', () => {
  let folder: string;
  let store: SqliteEventStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-until-'));
    store = await openSqliteEventStore({ file: join(folder, 'events.db') });
    for (const [index, minute] of minutes.entries()) {
      const metadata = JSON.stringify({ ...someMetadata, time: timeOf(minute) });
      await mustAppend(store, `thing-${index}`, noStream, [{ ...someEvent(), metadata }]);
    }
  });

  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  const placeAtTime = (minute: number) =>
    findPlace(
      store,
      (_position, time) => time > timeOf(minute),
      () => undefined,
      signal,
    );

  it('ends before the first event that is later than a time, whatever follows it', async () => {
    assert.deepEqual(await placeAtTime(2), { position: 2, time: timeOf(2), events: 2 });
    assert.deepEqual(await placeAtTime(3), { position: 2, time: timeOf(2), events: 2 });
    assert.deepEqual(await placeAtTime(5), { position: 4, time: timeOf(3), events: 4 });
    assert.deepEqual(await placeAtTime(9), { position: 6, time: timeOf(5), events: 6 });
    assert.deepEqual(await placeAtTime(0), { position: 0, time: null, events: 0 });
  });

  for (const batchSize of [1, 2, 100]) {
    it(`has no event after its end in batches of ${batchSize}, and reports that it has caught up there`, async () => {
      const log = logUntil(store, 3);
      assert.equal(await log.lastPosition(), 3);
      const ending = new AbortController();
      const positions: number[] = [];
      for await (const batch of batchesOf(tailOf(log), { after: 0, maxEvents: batchSize, signal: ending.signal })) {
        positions.push(...batch.events.map(({ position }) => position));
        assert.ok(batch.position <= 3);
        if (batch.caughtUp) ending.abort();
      }
      assert.deepEqual(positions, [1, 2, 3]);
    });
  }

  it('gives no events from a position behind its end', async () => {
    const ending = new AbortController();
    for await (const batch of batchesOf(tailOf(logUntil(store, 3)), { after: 5, signal: ending.signal })) {
      assert.deepEqual([batch.events.length, batch.position, batch.caughtUp], [0, 5, true]);
      ending.abort();
    }
  });
});
