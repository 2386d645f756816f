import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { mustAppend, someEvent, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbClusterDouble } from '#test/support/eventstoredb/cluster-double.ts';
import type { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { freePort } from '#test/support/run/free-port.ts';

const electionMs = 1_500;

/** A second, and what a busy machine adds. */
const soonMs = 1_500;

describe('EventStoreDB cluster whose leader falls', function () {
  this.timeout(30_000);

  let cluster: EventStoreDbClusterDouble;
  let store: EventStoreDbEventStore;
  let mute: MuteSeed;

  beforeEach(async () => {
    cluster = await EventStoreDbClusterDouble.start();
    cluster.times.electionMs = electionMs;
    mute = await MuteSeed.start();
    const url = cluster.url.replace('esdb://', `esdb://127.0.0.1:${mute.port},127.0.0.1:${await freePort()},`);
    store = openEventStoreDbEventStore({ url, streamPrefix: 'test.', log: pino({ level: 'silent' }) });
    await mustAppend(store, someStream(), noStream, [someEvent()]);
  });

  afterEach(async () => {
    for (const node of cluster.nodes) cluster.thaw(node);
    await store.close();
    await cluster.end();
    await mute.close();
  });

  /** Writes from now on until a write is stored. @returns the time after the election, in milliseconds */
  async function firstWriteMs(fallen: EventStoreDbDouble): Promise<number> {
    const isElected = () => cluster.hasLeader && cluster.leader !== fallen;
    const elected = eventually(isElected).then(() => performance.now());
    while (!E.isRight(await store.append(someStream(), noStream, [someEvent()]))) await sleep(10);
    return performance.now() - (await elected);
  }

  const falls: ReadonlyArray<readonly [string, () => Promise<void> | void]> = [
    ['is killed', () => cluster.kill(cluster.leader)],
    ['resigns', () => cluster.resign()],
    ['is frozen', () => cluster.freeze(cluster.leader)],
  ];
  for (const [what, fall] of falls)
    it(`takes the first write within a second of the election when the leader ${what}, although other seeds do not answer and gossip is late`, async () => {
      cluster.times.gossipMs = 5_000;
      const { leader } = cluster;
      await fall();
      const took = await firstWriteMs(leader);
      assert.ok(took < soonMs, `it took ${took} ms`);
    });

  it('stores a write that began before the leader was killed and has no answer yet', async () => {
    cluster.times.electionMs = 100;
    const { leader } = cluster;
    leader.faults.everyAppend = { kind: 'ignore' };
    const stream = someStream();
    const written = mustAppend(store, stream, noStream, [someEvent()]);
    await eventually(() => leader.callsByKind.append === 2);
    await cluster.kill(leader);
    await written;
    assert.equal(cluster.log.visible(`test.${stream}`)?.length, 1);
  });
});

/** A server that accepts connections and says nothing. */
class MuteSeed {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async start(): Promise<MuteSeed> {
    const seed = new MuteSeed();
    seed.#server.listen(0, '127.0.0.1');
    await once(seed.#server, 'listening');
    return seed;
  }

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
