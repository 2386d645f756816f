import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogChange } from '#event-store/log-doubts.ts';
import type { LogPages } from '#event-store/log-pages.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { type GivenEvent, InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const event = (number: number): GivenEvent => ({ stream: 'flow-one', type: 'Numbered', data: { number } });
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('a tail whose store is in doubt', () => {
  const { signal } = new AbortController();
  let log: InMemoryEventStore;
  /** The log that answers; the announcements come from the first one. */
  let answering: InMemoryEventStore;
  /** What an answer waits for on its way. */
  let onTheWay: Promise<void>;
  let tail: LogTail;
  let seen: unknown[];
  let changes: LogChange[];

  /** Starts to follow a log of three events. */
  async function follow(graceMs: number): Promise<void> {
    log = new InMemoryEventStore();
    log.append(event(1), event(2), event(3));
    answering = log;
    onTheWay = Promise.resolve();
    const pages: LogPages = {
      changes: log.changes,
      readPage: async (request) => {
        const page = await answering.readPage(request);
        await onTheWay;
        return page;
      },
      lastPosition: () => answering.lastPosition(),
      eventAt: (position) => answering.eventAt(position),
    };
    tail = new LogTail({ pages, log: quiet, graceMs });
    [seen, changes] = [[], []];
    tail.onChanged((change) => changes.push(change));
    const handle: Parameters<LogTail['follow']>[0]['handle'] = ({ events }) => {
      seen.push(...events.map(({ data }) => data.number));
    };
    tail.follow({ name: 'The test', after: 0, handle, signal });
    await eventually(() => seen.length === 3, 'the first events are seen');
  }
  afterEach(() => tail.close());

  const markAt = (index: number) => {
    const { position, id } = log.events[index] ?? assert.fail();
    return { position, id };
  };

  it('continues if the log has what was read', async () => {
    await follow(10_000);
    log.changes.notifyDoubt();
    log.append(event(4));
    await eventually(() => seen.length === 4, 'the next event is seen');
    assert.deepEqual(changes, []);
  });

  it('reports another event at the position that was read, and gives nothing of the other log', async () => {
    await follow(10_000);
    answering = log.backup(1);
    answering.append(event(20), event(30), event(40));
    log.changes.notifyDoubt();
    log.changes.notify(1_000);
    await eventually(() => changes.length === 1, 'it is reported');
    assert.deepEqual(changes, [{ lost: markAt(2), common: markAt(0) }]);
    log.changes.notifyDoubt();
    await sleep(50);
    assert.deepEqual(seen, [1, 2, 3]);
    assert.equal(changes.length, 1, 'a later doubt reports nothing');
  });

  it('waits for a node that is behind, and gives the events in order after that', async () => {
    await follow(10_000);
    answering = log.backup(2);
    log.changes.notifyDoubt();
    log.append(event(4));
    await sleep(300);
    assert.deepEqual(seen, [1, 2, 3]);
    answering = log;
    await eventually(() => seen.length === 4, 'the next event is seen');
    assert.deepEqual([seen, changes], [[1, 2, 3, 4], []]);
  });

  it('reads a page again whose read began before the doubt', async () => {
    await follow(10_000);
    const { promise, resolve: arrive } = Promise.withResolvers<void>();
    onTheWay = promise;
    answering = log.backup(3);
    answering.append(event(40));
    log.changes.notify(await answering.lastPosition());
    // The page with 40 is on its way. The log lost that event before anybody read it.
    await sleep(20);
    answering = log;
    log.append(event(4));
    log.changes.notifyDoubt();
    arrive();
    await eventually(() => seen.length === 4, 'the next event is seen');
    assert.deepEqual([seen, changes], [[1, 2, 3, 4], []]);
  });

  it('reports a missing event after the time in which a node may be behind', async () => {
    await follow(100);
    answering = log.backup(2);
    log.changes.notifyDoubt();
    await eventually(() => changes.length === 1, 'it is reported');
    assert.deepEqual(changes, [{ lost: markAt(2), common: markAt(1) }]);
  });

  it('reports a log without any of the events as another one', async () => {
    await follow(0);
    answering = new InMemoryEventStore();
    log.changes.notifyDoubt();
    await eventually(() => changes.length === 1, 'it is reported');
    assert.equal(changes[0]?.common, null);
  });
});
