import assert from 'node:assert/strict';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { OrganizationEvents } from '#domain/organization/organization.ts';
import { organization } from '#domain/organization/organization.ts';
import { type Process, type ProcessTools, process } from '#process-engine/process.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { ProcessHost } from '#process-engine/process-host.ts';
import { TermLeftError } from '#shared/errors/fenced-error.ts';
import { makeProject, organizationCreated } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { FollowedPositions } from '#test/support/fakes/followed-positions.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

describe('A term of the processes that was left', () => {
  let time: SimulatedTime;
  let store: AppendableEventStore;
  let records: InMemoryRecordStore;
  let errors: string[];

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    store = new AppendableEventStore();
    records = new InMemoryRecordStore();
    errors = [];
  });
  afterEach(() => time[Symbol.dispose]());

  async function start(handle: Process['handle']) {
    const positions = new FollowedPositions();
    const host = new ProcessHost({
      processes: [process<OrganizationEvents>({ name: 'follower', on: { OrganizationCreated: handle } })],
      store,
      tail: store.tail,
      writer: new StreamWriter({ store }),
      documents: new ReadModel(store.log),
      waitForPosition: async () => true,
      checkpoints: new ProcessCheckpoints(records),
      positions,
      leases: null,
      node: 'one',
      log: { info: () => undefined, warn: () => undefined, error: (_, message) => void errors.push(message) },
    });
    host.start();
    await time.pass(100);
    return { host, positions };
  }

  /** @returns the milliseconds that the stop has taken */
  async function stop(host: ProcessHost): Promise<number> {
    const began = time.now;
    let endedAt = Number.POSITIVE_INFINITY;
    void host.stop().then(() => {
      endedAt = time.now;
    });
    await time.passUntil(() => endedAt < Number.POSITIVE_INFINITY, 60_000);
    return endedAt - began;
  }

  const created = (id: string) => organizationCreated(new StreamWriter({ store }), id);

  it('calls nothing, appends nothing, and reports nothing any more', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let kept: ProcessTools | null = null;
    await created('one');
    const { host, positions } = await start(async (event, tools) => {
      kept = tools;
      await gate;
      await makeProject(event, tools);
    });
    assert.equal(await stop(host), 10_000);
    const { length } = store.log;
    const [reported, puts] = [positions.positions, records.puts];
    open();
    await time.pass(60_000);
    assert.deepEqual([store.log.length, positions.positions, records.puts], [length, reported, puts]);
    assert.ok(kept !== null);
    const { load, dataAt } = kept as ProcessTools;
    await assert.rejects(async () => load(organization, 'one'), TermLeftError);
    await assert.rejects(async () => dataAt(organization, 'one', 0), TermLeftError);
    assert.deepEqual([errors.length, errors[0]?.startsWith('Work has not ended')], [1, true]);
  });

  it('leads to one append, although an append of it is stored only after the next term has done its work', async () => {
    let isSlow = true;
    store.beforeAppend = async ({ stream }) => {
      if (isSlow && stream.startsWith('project-')) {
        isSlow = false;
        await time.wait(30_000);
      }
      return null;
    };
    await created('one');
    const first = await start(makeProject);
    await time.pass(100);
    assert.equal(await stop(first.host), 10_000);
    const second = await start(makeProject);
    await time.pass(1_000);
    assert.deepEqual(store.types('project-pone'), ['ProjectCreated']);
    await time.pass(60_000);
    assert.deepEqual(store.types('project-pone'), ['ProjectCreated']);
    assert.deepEqual([first.positions.effects.length, second.positions.effects.length], [0, 1]);
    await stop(second.host);
  });
});
