import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import type { Following, LogTail } from '#event-store/log-tail.ts';
import { collect, someEvents, someStream, untilCaughtUp } from '#test/contract/event-store.ts';
import { EventStoreDbClusterDouble } from '#test/support/eventstoredb/cluster-double.ts';
import { disturb, heal, type Mishap, mishaps } from '#test/support/eventstoredb/cluster-mishaps.ts';
import { serverReleases } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInManyRounds } from '#test/support/run/long.ts';
import { Random } from '#test/support/run/random.ts';

const streamPrefix = 'test.';
const log = pino({ level: 'silent' });
const writers = 8;
/** The appends of a writer in a round, so that the mishap comes in the middle of them. */
const appends = 12;
/** Repeats a run. */
const firstSeed = Number(process.env.FAILOVER_SEED ?? Math.floor(Math.random() * 1e9));

/** An event by what must be the same wherever it is read. */
const identity = ({ position, id }: { readonly position: number; readonly id: string }) => `${position} ${id}`;

/** A node of the service: its store, and a follower of its log. */
class ServiceNode {
  readonly store: EventStoreDbEventStore;
  readonly followed: string[] = [];
  readonly #tail: LogTail;
  readonly #following: Following;
  readonly #abort = new AbortController();

  constructor(url: string) {
    this.store = openEventStoreDbEventStore({ url, streamPrefix, log });
    this.#tail = tailOf(this.store);
    this.#following = this.#tail.follow({
      name: 'The test',
      after: 0,
      signal: this.#abort.signal,
      handle: ({ events }) => void this.followed.push(...events.map(identity)),
    });
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#following.ended;
    await this.#tail.close();
    await this.store.close();
  }
}

describe('failover of EventStoreDB, in rounds', function () {
  this.timeout(60_000);

  let cluster: EventStoreDbClusterDouble;
  let nodes: ServiceNode[];
  /** The ids of what was acknowledged. */
  let acknowledged: string[];

  beforeEach(async () => {
    cluster = await EventStoreDbClusterDouble.start();
    for (const { faults } of cluster.nodes) faults.commitTimeoutMs = 200;
    nodes = [new ServiceNode(cluster.url), new ServiceNode(cluster.url)];
    acknowledged = [];
  });

  afterEach(async () => {
    for (const node of cluster.nodes) node.thaw();
    await Promise.all(nodes.map((node) => node.close()));
    await cluster.end();
  });

  /** Appends to a stream, each append until it is acknowledged, as a client repeats a request. */
  async function write(store: EventStoreDbEventStore, random: Random): Promise<void> {
    const stream = someStream();
    let revision = noStream;
    for (let number = 0; number < appends; number += 1) {
      const events = someEvents(random.between(1, 3));
      await eventually(async () => {
        const outcome = await store.append(stream, revision, events);
        if (outcome._tag === 'Right') return true;
        assert.equal(outcome.left.kind, 'unavailable', JSON.stringify(outcome.left));
        await sleep(20);
        return false;
      }, 'an append is acknowledged');
      revision += events.length;
      acknowledged.push(...events.map(({ id }) => id));
      await sleep(random.between(0, 30));
    }
  }

  /** Lets a mishap happen to the cluster under writers, and waits until all is well again. */
  async function runRound(mishap: Mishap, seed: number): Promise<void> {
    const random = new Random(seed);
    const manner = random.pick(serverReleases);
    for (const node of cluster.nodes) node.manner = manner;
    disturb(cluster, random);
    const writing = Array.from({ length: writers }, (_, number) =>
      write((nodes[number % nodes.length] as ServiceNode).store, new Random(seed + number)),
    );
    const happening = (async () => {
      await sleep(random.between(0, 100));
      await mishap(cluster, random);
      await heal(cluster);
    })();
    await Promise.all([happening, ...writing]);
  }

  /** Everything acknowledged is in the log once, and every reader has the whole log in order. */
  async function expectWhole(): Promise<void> {
    const own = cluster.log.events.filter(({ stream }) => stream.startsWith(streamPrefix));
    const logged = own.map(identity);
    const ids = new Set(own.map(({ id }) => id));
    assert.equal(ids.size, own.length, 'an event is in the log twice');
    const missing = acknowledged.filter((id) => !ids.has(id));
    assert.deepEqual(missing, [], 'an acknowledged event is not in the log');
    for (const { followed, store } of nodes) {
      await eventually(() => followed.length >= logged.length, 'the follower has read the log', 20_000).catch(() => {});
      assert.deepEqual(followed, logged);
      assert.deepEqual((await collect(store, { after: 0 }, untilCaughtUp)).map(identity), logged);
    }
    for (const { log } of cluster.nodes)
      await eventually(() => log.events.at(-1)?.id === cluster.log.events.at(-1)?.id, 'each node has the log');
  }

  async function run(mishap: Mishap, seed: number): Promise<void> {
    try {
      await runRound(mishap, seed);
      await expectWhole();
    } catch (error) {
      throw new Error(`FAILOVER_SEED=${seed}`, { cause: error });
    }
  }

  for (const [what, mishap] of Object.entries(mishaps))
    it(`loses, repeats and skips nothing when ${what}`, () => run(mishap, firstSeed));

  itInManyRounds('loses, repeats and skips nothing whatever happens to the cluster', 60, async (rounds) => {
    for (let round = 0; round < rounds; round += 1) {
      const seed = firstSeed + round;
      await run(new Random(seed).pick(Object.values(mishaps)), seed);
    }
  });
});
