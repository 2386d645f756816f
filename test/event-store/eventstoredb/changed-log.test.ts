import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { noStream } from '#event-store/event-store.ts';
import { InvalidPositionError } from '#event-store/eventstoredb/connection/reads.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import type { LogChange } from '#event-store/log-doubts.ts';
import { feedTail } from '#event-store/log-feed.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const log = { ...quiet, debug: () => undefined };
const naming = { streamPrefix: 'test.', streamKinds: ['flow', 'usage'], log };
const events = (count: number) =>
  Array.from({ length: count }, () => ({ id: randomUUID(), type: 'Filled', data: '{}', metadata: '{}' }));

describe('a tail of EventStoreDB that compares the log with what was read', function () {
  this.timeout(60_000);
  const { signal } = new AbortController();
  let double: EventStoreDbDouble;
  let store: EventStoreDbEventStore;
  let tail: LogTail;
  let seen: number[];
  let changes: LogChange[];

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    store = openEventStoreDbEventStore({ url: double.url, ...naming });
    tail = new LogTail({ pages: store, log: quiet, graceMs: 1_000 });
    [seen, changes] = [[], []];
    tail.onChanged((change) => changes.push(change));
    const handle: Parameters<LogTail['follow']>[0]['handle'] = (batch) => {
      seen.push(...batch.events.map(({ position }) => position));
    };
    const following = tail.follow({ name: 'The test', after: 0, handle, signal });
    following.ended.catch(() => undefined);
  });
  afterEach(async () => {
    await tail.close();
    await store.close();
    await double.kill();
  });

  /** Appends events, and waits until they are seen, in a page of their own. */
  async function fill(stream: string, revision: number, count = 1): Promise<void> {
    const before = seen.length;
    await store.append(stream, revision, events(count));
    await eventually(() => seen.length === before + count, 'the events are seen');
  }

  it('finds the same log after a break, although the pages in memory end before what was read', async () => {
    let doubts = 0;
    store.changes.onDoubt(() => {
      doubts += 1;
    });
    await fill('flow-1', noStream);
    await fill('usage-1', noStream);
    await fill('usage-1', 0);
    double.cut();
    await eventually(() => doubts > 0, 'the log is in doubt');
    await fill('flow-2', noStream);
    assert.deepEqual(changes, []);
  });

  it('finds another log, although the pages in memory have what was read', async () => {
    await fill('flow-1', noStream);
    const backup = double.log.copy();
    await fill('usage-1', noStream, 2);
    await double.restore(backup);
    const other = openEventStoreDbEventStore({ url: double.url, ...naming });
    await other.append('flow-2', noStream, events(3));
    await other.close();
    await eventually(() => changes.length === 1, 'the change is noticed');
    assert.equal(seen.length, 3);
  });

  it('is in doubt when the server has no event at a position where a page begins', async () => {
    let doubts = 0;
    store.changes.onDoubt(() => {
      doubts += 1;
    });
    await fill('flow-1', noStream, 2);
    const after = (seen[0] ?? 0) + 1;
    await assert.rejects(store.readPage({ after, maxEvents: 1 }), InvalidPositionError);
    assert.equal(doubts, 1);
    const page = await store.readPage({ after, maxEvents: 1, isFresh: true });
    assert.deepEqual(page, { after, position: after, events: [], characters: 0, isEnd: true });
    await fill('flow-2', noStream);
    assert.deepEqual(changes, []);
  });

  it('is in doubt when the reader of another thread is', async () => {
    const node = await EventStoreDbDouble.start({ log: double.log });
    const thread = openEventStoreDbEventStore({ url: node.url, ...naming, wake: feedTail(tail, store.changes) });
    let doubts = 0;
    thread.changes.onDoubt(() => {
      doubts += 1;
    });
    await fill('flow-1', noStream);
    await thread.readPage({ after: 0, maxEvents: 1 });
    assert.equal(doubts, 0);
    double.cut();
    await eventually(() => doubts > 0, 'the other thread hears of the doubt');
    await thread.close();
    await node.kill();
  });
});
