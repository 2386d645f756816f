import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { LogReader } from '#event-store/eventstoredb/log/log-reader.ts';
import { LogWatch, type LogWatchOptions } from '#event-store/eventstoredb/log/log-watch.ts';
import type { WakeUpListener } from '#event-store/eventstoredb/log/wake-ups.ts';
import { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import type { LogPageRequest, LogPages } from '#event-store/log-pages.ts';
import { asStored } from '#event-store/recorded-event.ts';
import { mustAppend, someEvents } from '#test/contract/event-store.ts';
import { eventMessage } from '#test/support/eventstoredb/calls/messages.ts';
import { EventStoreDbClusterDouble } from '#test/support/eventstoredb/cluster-double.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';

/** The positions of events are multiples of it. The event at every third one is of another application. */
const step = 100;
const isOurs = (position: number) => position % (3 * step) !== 0;

/** A node of a cluster, which shows the events up to a position. */
interface Node {
  shown: number;
}

/** What happens next. The number of a node counts modulo the number of nodes. */
type Step =
  /** A node shows more events. */
  | { readonly kind: 'index'; readonly node: number; readonly events: number }
  /** The subscription is at this node, and reports what it shows. */
  | { readonly kind: 'announce'; readonly node: number }
  /** An append of ours is answered by this node. */
  | { readonly kind: 'append'; readonly node: number }
  /** The next reads are answered by this node. */
  | { readonly kind: 'lead'; readonly node: number };

const node = fc.nat(2);
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('index' as const), node, events: fc.integer({ min: 1, max: 7 }) }),
    fc.record({ kind: fc.constant('announce' as const), node }),
    fc.record({ kind: fc.constant('append' as const), node }),
    fc.record({ kind: fc.constant('lead' as const), node }),
  ),
  { minLength: 5, maxLength: 30 },
);

/** A cluster whose nodes have the same log, and show more and more of it. The leader changes at any time. */
class LateCluster {
  readonly nodes: ReadonlyArray<Node> = [{ shown: 0 }, { shown: 0 }, { shown: 0 }];
  leader = 0;
  /** The first positions of the requests. */
  readonly starts: number[] = [];
  /** The first position of a request that is refused. */
  refusedStart = Number.NaN;
  #listener: WakeUpListener | null = null;
  #subscribedAfter = 0;

  get shown(): number {
    return Math.max(...this.nodes.map(({ shown }) => shown));
  }

  /** Every node shows the events up to a position. */
  show(position: number): void {
    for (const one of this.nodes) one.shown = position;
  }

  readonly wakeUps: LogWatchOptions['wakeUps'] = {
    pollMs: 100,
    start: (listener) => {
      this.#listener = listener;
      this.#subscribedAfter = listener.end();
      return () => {
        this.#listener = null;
      };
    },
  };

  /** Reports the new events of a node, and then how far it has looked, as a subscription does. */
  announce({ shown }: Node): void {
    for (let at = step; at <= shown; at += step) {
      if (at <= this.#subscribedAfter || !isOurs(at)) continue;
      this.#subscribedAfter = at;
      this.#listener?.onStored(at);
    }
    if (shown > this.#subscribedAfter) this.#listener?.onForeign({ after: this.#subscribedAfter, before: shown });
  }

  async answers(request: ReadReq): Promise<ReadonlyArray<ReadResp>> {
    const options = request.getOptions();
    const { shown } = this.nodes[this.leader] ?? assert.fail();
    const from = Number(options?.getAll()?.getPosition()?.getCommitPosition() ?? 0);
    if (from === this.refusedStart) throw new Error('There is no such position.');
    const isWanted = (at: number) => at >= from && (options?.hasNoFilter() === true || isOurs(at));
    const positions: number[] = [];
    for (let at = step; at <= shown; at += step) if (isWanted(at)) positions.push(at);
    const isBackwards = options?.getReadDirection() === 1;
    if (!isBackwards) this.starts.push(from);
    return (isBackwards ? positions.toReversed() : positions).slice(0, Number(options?.getCount())).map(answerAt);
  }

  readonly page = async (request: ReadReq) => {
    // The answer is on its way while other things happen.
    const answers = await this.answers(request);
    await sleep(1);
    return { answers, isWhole: true };
  };
}

function answerAt(position: number): ReadResp {
  const event = {
    ...{ id: crypto.randomUUID(), type: 'Filled', isJson: true, data: Buffer.from('{}'), metadata: Buffer.from('{}') },
    ...{ stream: 'test.flow-1', revision: BigInt(position), position, end: position, index: position, createdAt: 0 },
  };
  return eventMessage(event, undefined, 'string');
}

/** The reader of a cluster, and what announces its events. */
class ClusterLog implements LogPages {
  readonly changes: LogWatch;
  readonly #reader: LogReader;

  constructor(cluster: LateCluster) {
    this.changes = new LogWatch({
      askForEnd: () => this.lastPosition(),
      askedAt: () => this.#reader.askedAt,
      wakeUps: cluster.wakeUps,
      onForeign: (stretch) => this.#reader.passForeign(stretch),
    });
    this.#reader = new LogReader({
      reads: { page: cluster.page, answers: (request: ReadReq) => cluster.answers(request) } as never,
      names: new StreamNames({ streamPrefix: 'test.' }),
      upcast: asStored,
      changes: this.changes,
    });
  }

  readPage(request: LogPageRequest) {
    return this.#reader.readPage(request);
  }

  lastPosition() {
    return this.#reader.lastPosition();
  }

  eventAt(): never {
    return assert.fail('The log does not change.');
  }

  async close(): Promise<void> {
    this.#reader.close();
    await this.changes.close();
  }
}

const maxEvents = 2_000;

describe('LogReader on a cluster whose nodes show events at different times', function () {
  this.timeout(60_000);

  it('stays where it is when an event is announced that the leader does not show yet', async () => {
    const cluster = new LateCluster();
    const log = new ClusterLog(cluster);
    log.changes.notify(400);
    const page = await log.readPage({ after: 200, maxEvents });
    assert.deepEqual([page.position, page.isEnd], [200, true]);
    cluster.show(500);
    const later = await log.readPage({ after: page.position, maxEvents });
    assert.deepEqual(
      later.events.map(({ position }) => position),
      [400, 500],
    );
    await log.close();
  });

  it('asks for announced events with growing pauses, and doubts the log when they are missing for long', async () => {
    const cluster = new LateCluster();
    const log = new ClusterLog(cluster);
    let doubts = 0;
    log.changes.onDoubt(() => {
      doubts += 1;
    });
    log.changes.notify(400);
    const tail = tailOf(log);
    const ending = new AbortController();
    tail.follow({ name: 'The test', after: 200, handle: () => {}, signal: ending.signal });
    await eventually(() => doubts > 0);
    assert.ok(cluster.starts.length < 20, `${cluster.starts.length} reads`);
    ending.abort();
    await tail.close();
    await log.close();
  });

  it('begins its reads after the events of other applications that a subscription has passed', async () => {
    const cluster = new LateCluster();
    const log = new ClusterLog(cluster);
    cluster.show(2 * step);
    await log.lastPosition();
    const waiting = new AbortController();
    const waited = log.changes.waitPast(2 * step, waiting.signal);
    cluster.show(3 * step);
    cluster.announce({ shown: 3 * step });
    await log.readPage({ after: 2 * step, maxEvents });
    assert.equal(cluster.starts.at(-1), 3 * step);
    waiting.abort();
    await waited;
    await log.close();
  });

  it('searches its last event once, and then begins after the events of other applications that follow it', async () => {
    const cluster = new LateCluster();
    const log = new ClusterLog(cluster);
    cluster.show(3 * step);
    assert.equal(await log.lastPosition(), 2 * step);
    assert.equal(await log.lastPosition(), 2 * step);
    assert.deepEqual([...new Set(cluster.starts)], [3 * step]);
    await log.close();
  });

  it('reads from its own position again when a server refuses to begin where a checkpoint was', async () => {
    const cluster = new LateCluster();
    const log = new ClusterLog(cluster);
    cluster.show(2 * step);
    await log.lastPosition();
    const waiting = new AbortController();
    const waited = log.changes.waitPast(2 * step, waiting.signal);
    cluster.show(4 * step);
    cluster.announce({ shown: 3 * step });
    cluster.refusedStart = 3 * step;
    await assert.rejects(log.readPage({ after: 2 * step, maxEvents }), /no such position/);
    const { events } = await log.readPage({ after: 2 * step, maxEvents });
    assert.deepEqual(
      events.map(({ position }) => position),
      [4 * step],
    );
    waiting.abort();
    await waited;
    await log.close();
  });

  itInRounds(
    'gives every event once and in order, whichever nodes answer, announce and append in any order',
    { few: 20, many: 300 },
    async (rounds) => {
      await fc.assert(
        fc.asyncProperty(steps, async (happening) => {
          assert.deepEqual(...(await followThrough(happening)));
        }),
        { numRuns: rounds, endOnFailure: true },
      );
    },
  );
});

/** Follows the log while these things happen. @returns the positions that the follower got, and those of our events */
async function followThrough(happening: ReadonlyArray<Step>): Promise<[number[], number[]]> {
  const cluster = new LateCluster();
  const log = new ClusterLog(cluster);
  const tail = tailOf(log);
  const ending = new AbortController();
  const got: number[] = [];
  tail.follow({
    ...{ name: 'The test', after: 0, signal: ending.signal },
    handle: ({ events }) => void got.push(...events.map(({ position }) => position)),
  });
  for (const next of happening) {
    carryOut(next, cluster, log);
    await sleep(1);
  }
  const { shown } = cluster;
  cluster.show(shown);
  const ours = Array.from({ length: shown / step }, (_, index) => (index + 1) * step).filter(isOurs);
  await eventually(() => got.length >= ours.length, 'every event', 15_000);
  ending.abort();
  await tail.close();
  await log.close();
  return [got, ours];
}

function carryOut(next: Step, cluster: LateCluster, log: ClusterLog): void {
  const one = cluster.nodes[next.node] ?? assert.fail();
  switch (next.kind) {
    case 'index':
      one.shown += next.events * step;
      return;
    case 'announce':
      cluster.announce(one);
      return;
    case 'append': {
      const last = [one.shown, one.shown - step].find((position) => position > 0 && isOurs(position));
      if (last !== undefined) log.changes.notify(last);
      return;
    }
    case 'lead':
      cluster.leader = next.node;
  }
}

describe('tail of a cluster whose leader resigns', function () {
  this.timeout(60_000);

  let cluster: EventStoreDbClusterDouble;

  beforeEach(async () => {
    cluster = await EventStoreDbClusterDouble.start();
  });

  afterEach(() => cluster.end());

  it('moves its subscription to the new leader, and skips no event that this one shows late', async () => {
    const log = pino({ level: 'silent' });
    const store = openEventStoreDbEventStore({ url: cluster.url, streamPrefix: 'test.', log });
    const tail = tailOf(store);
    const ending = new AbortController();
    const got: string[] = [];
    const follow = { name: 'The test', after: 0, signal: ending.signal };
    tail.follow({ ...follow, handle: ({ events }) => void got.push(...events.map(({ id }) => id)) });
    const events = someEvents(4);
    await mustAppend(store, 'flow-1', noStream, events.slice(0, 1));
    const resigned = cluster.leader;
    await eventually(() => got.length === 1 && resigned.subscriptions === 1);
    cluster.resign();
    await cluster.settled();
    await eventually(() => cluster.leader.subscriptions === 1 && resigned.subscriptions === 0);
    const release = cluster.leader.index.progress.hold();
    const appending = mustAppend(store, 'flow-1', 0, events.slice(1));
    await sleep(300);
    assert.equal(got.length, 1);
    release();
    await appending;
    await eventually(() => got.length === events.length);
    assert.deepEqual(
      got,
      events.map(({ id }) => id),
    );
    ending.abort();
    await tail.close();
    await store.close();
  });
});
