import assert from 'node:assert/strict';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { ProcessEvents } from '#domain/operator/process-control.ts';
import type { OrganizationEvents } from '#domain/organization/organization.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { type Process, process } from '#process-engine/process.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { ProcessHost, type ProcessHostOptions } from '#process-engine/process-host.ts';
import { makeProject, organizationCreated } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { FollowedPositions } from '#test/support/fakes/followed-positions.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const timeoutMs = 60_000;

describe('processes on several nodes', () => {
  let store: AppendableEventStore;
  let records: InMemoryRecordStore;
  let checkpoints: ProcessCheckpoints;
  let logged: string[];
  let opened: AsyncDisposableStack;
  beforeEach(() => {
    store = new AppendableEventStore();
    records = new InMemoryRecordStore();
    checkpoints = new ProcessCheckpoints(records);
    logged = [];
    opened = new AsyncDisposableStack();
  });
  afterEach(() => opened.disposeAsync());

  /** Each organization gets a project. */
  const follower = (handle: Process['handle'] = makeProject) =>
    process<OrganizationEvents>({ name: 'follower', on: { OrganizationCreated: handle } });

  /** Starts a node, which knows nothing of other nodes' appends until it reads. */
  function startNode(processes: ReadonlyArray<Process>, options: Partial<ProcessHostOptions> = {}) {
    const positions = new FollowedPositions();
    const line = (_: object, message: string) => void logged.push(message);
    const host = new ProcessHost({
      processes,
      store,
      tail: store.tail,
      writer: new StreamWriter({ store }),
      documents: new ReadModel(store.log),
      waitForPosition: async () => true,
      checkpoints,
      positions,
      leases: new NodeLeases({ store: new InMemoryLeaseStore() }),
      node: 'one',
      saveIntervalMs: timeoutMs,
      log: { info: line, warn: line, error: line },
      ...options,
    });
    host.start();
    const stop = () => host.stop();
    opened.defer(stop);
    return { positions, stop };
  }

  const created = (id: string) => organizationCreated(new StreamWriter({ store }), id);
  const storedPosition = async () => (await checkpoints.read())?.checkpoints.follower?.position ?? 0;

  for (const place of ['before it decides', 'before it appends', 'after it has appended'] as const)
    it(`append nothing twice when their node is superseded in a reaction, ${place}`, async () => {
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const wait = () => {
        reach();
        return gate;
      };
      let isSlow = place === 'before it appends';
      store.beforeAppend = async ({ stream }) => {
        if (isSlow && stream.startsWith('project-')) {
          isSlow = false;
          await wait();
        }
        return null;
      };
      const slow = follower(async (event, tools) => {
        if (place === 'before it decides') await wait();
        await makeProject(event, tools);
        if (place === 'after it has appended') await wait();
      });
      // Without leases, the node has the lowest token.
      startNode([slow], { leases: null, node: 'older', saveIntervalMs: 1 });
      const position = await created('a');
      await reached;
      const newer = startNode([follower()], { node: 'newer' });
      assert.ok(await newer.positions.passed('follower', position, timeoutMs));
      open();
      await eventually(
        () => logged.includes('The processes have failed and are started again'),
        'the older one has noticed',
      );
      assert.deepEqual(store.types('project-pa'), ['ProjectCreated']);
      assert.ok((await storedPosition()) >= position);
    });

  it('continue on another node when one stops', async () => {
    const leases = new InMemoryLeaseStore();
    const one = startNode([follower()], { leases: new NodeLeases({ store: leases }) });
    const first = await created('a');
    assert.ok(await one.positions.passed('follower', first, timeoutMs));
    const other = startNode([follower()], { leases: new NodeLeases({ store: leases }), node: 'other' });
    await one.stop();
    const second = await created('b');
    assert.ok(await other.positions.passed('follower', second, timeoutMs));
    assert.deepEqual(store.types('project-pa'), ['ProjectCreated']);
    assert.deepEqual(store.types('project-pb'), ['ProjectCreated']);
    assert.equal((await leases.newestOfAll()).get('processes')?.token, 2);
    assert.equal((await checkpoints.read())?.token, 2);
  });

  it('show other nodes immediately what they have passed, and what they have appended because of it', async () => {
    startNode([follower(async (event, tools) => (event.data.id === 'a' ? makeProject(event, tools) : undefined))]);
    const first = await created('a');
    await eventually(async () => (await storedPosition()) >= first, 'it is stored');
    const appended = store.log.find(({ type }) => type === 'ProjectCreated')?.position;
    assert.deepEqual((await checkpoints.read())?.effects, [{ process: 'follower', cause: first, appended }]);
    const second = await created('b');
    await eventually(async () => (await storedPosition()) >= second, 'it is stored although nothing was appended');
  });

  it('report and store immediately that they are past their own appends, although they do not handle those', async () => {
    const node = startNode([follower()]);
    await created('a');
    await eventually(() => store.log.length === 2, 'it has appended');
    const appended = store.log.at(-1)?.position ?? 0;
    assert.ok(await node.positions.passed('follower', appended, timeoutMs));
    await eventually(async () => (await storedPosition()) >= appended, 'it is stored');
  });

  it('report and store immediately that they are past the appends of others, although they handle none of those', async () => {
    const other = process<ProcessEvents>({ name: 'other', on: { ProcessRetried: async () => undefined } });
    const node = startNode([follower(), other]);
    await created('a');
    await eventually(() => store.log.length === 2, 'the follower has appended');
    const appended = store.log.at(-1)?.position ?? 0;
    assert.ok(await node.positions.passed('other', appended, timeoutMs));
    const stored = async () => (await checkpoints.read())?.checkpoints.other?.position ?? 0;
    await eventually(async () => (await stored()) >= appended, 'it is stored');
  });

  it('keep the newest two hundred effects, also on the next node', async () => {
    const leases = new InMemoryLeaseStore();
    const one = startNode([follower()], { leases: new NodeLeases({ store: leases }) });
    let last = 0;
    for (let number = 0; number < 205; number += 1) last = await created(String(number));
    assert.ok(await one.positions.passed('follower', last, timeoutMs));
    await one.stop();
    const effects = (await checkpoints.read())?.effects ?? [];
    assert.deepEqual([effects.length, effects.at(-1)?.cause], [200, last]);
    const other = startNode([follower()], { leases: new NodeLeases({ store: leases }) });
    const next = await created('next');
    assert.ok(await other.positions.passed('follower', next, timeoutMs));
    await eventually(async () => (await storedPosition()) >= next, 'it is stored');
    assert.deepEqual(
      (await checkpoints.read())?.effects.slice(-2).map(({ cause }) => cause),
      [last, next],
    );
  });

  it('write one record at a time for all processes, however many events they handle meanwhile', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    records.beforePut = async () => {
      running += 1;
      most = Math.max(most, running);
      await gate;
      running -= 1;
    };
    const names = ['follower', 'other', 'third'];
    const seen: unknown[] = [];
    const node = startNode(
      names.map((name) =>
        process<OrganizationEvents>({
          name,
          on: { OrganizationCreated: async ({ data }) => void seen.push(data.id) },
        }),
      ),
    );
    let last = 0;
    for (let number = 0; number < 20; number += 1) last = await created(String(number));
    await eventually(() => seen.length === 20 * names.length, 'nobody waits for the store');
    for (const name of names) assert.ok(await node.positions.passed(name, last, timeoutMs));
    open();
    await eventually(async () => (await storedPosition()) === last, 'the newest is stored');
    assert.deepEqual([most, records.puts <= 3], [1, true]);
  });

  it('store nothing on a single node while events lead to no append, until the interval ends', async () => {
    const node = startNode([follower(async () => undefined)], { leases: null });
    assert.ok(await node.positions.passed('follower', await created('a'), timeoutMs));
    assert.equal(records.puts, 0);
    await node.stop();
    assert.equal(records.puts, 1);
    assert.deepEqual((await checkpoints.read())?.effects, []);
  });
});
