import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { mustAppend, someEvent, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbClusterDouble } from '#test/support/eventstoredb/cluster-double.ts';
import type { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { NodeClient, type NodeClientOptions } from '#test/support/eventstoredb/node-client.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('EventStoreDbClusterDouble', function () {
  this.timeout(30_000);

  let cluster: EventStoreDbClusterDouble;
  let clients: NodeClient[];

  beforeEach(async () => {
    cluster = await EventStoreDbClusterDouble.start(3, { manner: '24' });
    clients = [];
  });

  afterEach(async () => {
    for (const client of clients) client.close();
    await cluster.end();
  });

  function clientOf(node: EventStoreDbDouble, options: NodeClientOptions = {}): NodeClient {
    const client = new NodeClient(node, options);
    clients.push(client);
    return client;
  }

  const followers = () => cluster.followers as [EventStoreDbDouble, EventStoreDbDouble];
  const positionsOf = ({ log }: EventStoreDbDouble) => log.events.map(({ position }) => position);

  it('copies what the leader stores to every node', async () => {
    const position = await clientOf(cluster.leader).append('orders-1');
    for (const node of cluster.nodes)
      assert.equal((await clientOf(node, { requiresLeader: false }).readAll()).at(-1), position);
  });

  it('shows an event only when a majority has it', async () => {
    const leader = clientOf(cluster.leader);
    const release = followers().map((node) => cluster.replicationTo(node).hold());
    const appended = leader.append('orders-1');
    await eventually(() => cluster.log.events.at(-1)?.stream === 'orders-1');
    assert.deepEqual(await leader.readStream('orders-1'), []);
    release[0]?.();
    await appended;
    assert.deepEqual(await leader.readStream('orders-1'), [0]);
    assert.equal(followers()[1].log.lastRevision('orders-1'), null);
    release[1]?.();
    assert.equal(followers()[1].log.lastRevision('orders-1'), 0n);
  });

  it('shows an event on a follower before the leader has indexed it', async () => {
    const [follower] = followers();
    const release = cluster.leader.index.progress.hold();
    const leader = clientOf(cluster.leader);
    const announced = clientOf(follower).subscribe();
    await eventually(() => announced.isConfirmed);
    const appended = leader.append('orders-1');
    await eventually(() => announced.positions.length === 1);
    const [position = 0] = announced.positions;
    assert.deepEqual(
      (await leader.readAll()).filter((one) => one >= position),
      [],
    );
    assert.deepEqual(await leader.readAll({ from: position }), []);
    release();
    assert.equal(await appended, position);
    assert.deepEqual(await leader.readAll({ from: position }), [position]);
    announced.close();
  });

  it('lets an index lag by events and by time', async () => {
    const [follower] = followers();
    follower.index.progress.lagEvents = 2;
    const leader = clientOf(cluster.leader);
    for (let number = 0; number < 5; number += 1) await leader.append('orders-1');
    const reader = clientOf(follower, { requiresLeader: false });
    assert.deepEqual(await reader.readStream('orders-1'), [0, 1, 2]);
    follower.index.progress.lagEvents = 0;
    follower.index.progress.lagMs = 50;
    await leader.append('orders-1');
    assert.deepEqual(await reader.readStream('orders-1'), [0, 1, 2]);
    await eventually(() => follower.index.lastRevision('orders-1') === 5n);
  });

  it('confirms a subscription from the end on a follower, which refuses reads and appends', async () => {
    const [follower] = followers();
    const client = clientOf(follower);
    const subscription = client.subscribe();
    await eventually(() => subscription.isConfirmed);
    await assert.rejects(client.readAll(), /Leader info available/);
    await assert.rejects(client.append('orders-1'), /Leader info available/);
    const behind = client.subscribe(0);
    await eventually(() => behind.failure !== null);
    assert.match(String(behind.failure), /Leader info available/);
    assert.ok(behind.isConfirmed);
    const position = await clientOf(cluster.leader).append('orders-1');
    await eventually(() => subscription.positions.length === 1);
    assert.deepEqual(subscription.positions, [position]);
    subscription.close();
  });

  it('leaves a subscription on a leader that has resigned', async () => {
    const resigned = cluster.leader;
    const subscription = clientOf(resigned).subscribe();
    await eventually(() => subscription.isConfirmed);
    cluster.resign();
    await assert.rejects(clientOf(resigned).append('orders-1'), /Server Is Not Ready/);
    await cluster.settled();
    assert.notEqual(cluster.leader, resigned);
    const position = await clientOf(cluster.leader).append('orders-1');
    await eventually(() => subscription.positions.length === 1);
    assert.deepEqual(subscription.positions, [position]);
    assert.equal(subscription.failure, null);
    subscription.close();
  });

  it('loses the events of a cut off leader when it is back: its process ends and has to be started', async () => {
    const old = cluster.leader;
    old.faults.commitTimeoutMs = 100;
    const kept = await clientOf(old).append('orders-1');
    cluster.cutOff(old);
    await assert.rejects(clientOf(old).append('orders-1'), /Commit phase timeout/);
    assert.equal(old.log.lastRevision('orders-1'), 1n);
    await eventually(() => cluster.hasLeader && cluster.leader !== old);
    const next = await clientOf(cluster.leader).append('orders-2');
    cluster.rejoin(old);
    await eventually(() => old.hasEnded);
    assert.equal(old.isRunning, false);
    await cluster.restart(old);
    await cluster.settled();
    assert.deepEqual(positionsOf(old), positionsOf(cluster.leader));
    assert.deepEqual(positionsOf(old).slice(-2), [kept, next]);
  });

  it('lets a cut off leader go on for a while, and then answer as a node without a leader', async () => {
    const old = cluster.leader;
    const stale = clientOf(old, { deadlineMs: 2_000 });
    const position = await stale.append('orders-1');
    cluster.cutOff(old);
    assert.equal((await stale.readAll()).at(-1), position);
    await eventually(() =>
      stale.readAll().then(
        () => false,
        ({ message }) => /Server Is Not Ready/.test(message),
      ),
    );
    cluster.rejoin(old);
    await cluster.settled();
    assert.equal(old.hasEnded, false);
    await assert.rejects(stale.readAll(), /Leader info available/);
  });

  it('stores without an answer what comes while two nodes are lost, and commits it when they are back', async () => {
    const { leader } = cluster;
    leader.faults.commitTimeoutMs = 100;
    const away = followers();
    for (const node of away) await cluster.kill(node);
    await assert.rejects(clientOf(leader).append('orders-1'), /Commit phase timeout/);
    await cluster.settled();
    assert.equal(cluster.hasLeader, false);
    await assert.rejects(clientOf(leader).readAll(), /Server Is Not Ready/);
    for (const node of away) await cluster.restart(node);
    await cluster.settled();
    assert.equal(cluster.leader, leader);
    assert.deepEqual(await clientOf(leader).readStream('orders-1'), [0]);
  });

  it('elects the most advanced node after the leader is frozen, and lets the old one follow when it continues', async () => {
    const old = cluster.leader;
    const [behind, ahead] = followers();
    cluster.replicationTo(behind).hold();
    await clientOf(old).append('orders-1');
    cluster.freeze(old);
    await cluster.settled();
    assert.equal(cluster.leader, ahead);
    cluster.thaw(old);
    await cluster.settled();
    assert.equal(old.hasEnded, false);
    assert.ok(cluster.followers.includes(old));
  });

  it('has no leader until elections go on', async () => {
    const release = cluster.depose();
    await cluster.kill(cluster.nodes[2] as EventStoreDbDouble);
    await sleep(3 * cluster.times.electionMs);
    assert.equal(cluster.hasLeader, false);
    for (const node of cluster.nodes.slice(0, 2)) await assert.rejects(clientOf(node).readAll(), /Server Is Not Ready/);
    release();
    await cluster.settled();
    await clientOf(cluster.leader).append('orders-1');
  });

  it('names a leader at an address that cannot be reached', async () => {
    cluster.advertise(cluster.leader, { host: '192.0.2.1', port: 2113 });
    const failure = await clientOf(followers()[0])
      .readAll()
      .then(
        () => null,
        (error) => error,
      );
    assert.deepEqual(failure.metadata.get('leader-endpoint-host'), ['192.0.2.1']);
    assert.deepEqual(failure.metadata.get('leader-endpoint-port'), ['2113']);
  });

  describe('with the store of the service', () => {
    const open = () =>
      openEventStoreDbEventStore({ url: cluster.url, streamPrefix: 'test.', log: pino({ level: 'silent' }) });

    it('answers through a new leader once the old one is killed', async () => {
      const store = open();
      try {
        const stream = someStream();
        await mustAppend(store, stream, noStream, [someEvent()]);
        const killed = cluster.leader;
        await cluster.kill(killed);
        await cluster.settled();
        assert.notEqual(cluster.leader, killed);
        const event = someEvent();
        await eventually(() => store.append(stream, 0, [event]).then(({ _tag }) => _tag === 'Right'));
        await cluster.restart(killed);
        await mustAppend(store, stream, 1, [someEvent()]);
        assert.equal((await store.read(stream, 0)).events.length, 3);
      } finally {
        await store.close();
      }
    });

    it('is redirected to the leader', async () => {
      const store = open();
      try {
        const stream = someStream();
        await mustAppend(store, stream, noStream, [someEvent()]);
        cluster.elect(followers()[0]);
        await mustAppend(store, stream, 0, [someEvent()]);
        assert.equal((await store.read(stream, 0)).events.length, 2);
      } finally {
        await store.close();
      }
    });
  });
});
