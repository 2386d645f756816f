import assert from 'node:assert/strict';
import { type StreamWrite, StreamWriter } from '#application/streams/stream-writer.ts';
import type { OrganizationEvents } from '#domain/organization/organization.ts';
import { Admission } from '#exchange/admission.ts';
import { Positions } from '#positions/positions.ts';
import { type Process, type ProcessTools, process } from '#process-engine/process.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { ProcessHost, type ProcessHostOptions } from '#process-engine/process-host.ts';
import { makeProject, organizationCreated, origin } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { FollowedPositions } from '#test/support/fakes/followed-positions.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

describe('The wait of a process for a read model', () => {
  let time: SimulatedTime;
  let store: AppendableEventStore;
  let writer: StreamWriter;
  let host: ProcessHost;
  /** The positions for which it has waited. */
  let targets: number[];
  let lines: string[];

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    store = new AppendableEventStore();
    writer = new StreamWriter({ store });
    targets = [];
    lines = [];
  });
  afterEach(async () => {
    const stopping = host.stop();
    await time.pass(20_000);
    await stopping;
    time[Symbol.dispose]();
  });

  const created = (id: string) => organizationCreated(writer, id);

  async function start(
    handle: Process['handle'],
    waitForPosition: ProcessHostOptions['waitForPosition'] = async () => true,
    concurrency?: number,
  ): Promise<void> {
    const line = (_: object, message: string) => void lines.push(message);
    host = new ProcessHost({
      processes: [
        process<OrganizationEvents>({
          name: 'follower',
          on: { OrganizationCreated: handle },
          ...(concurrency === undefined ? {} : { concurrency }),
        }),
      ],
      store,
      tail: store.tail,
      writer: new StreamWriter({ store }),
      documents: new ReadModel(store.log),
      waitForPosition: (collection, position, limits) => {
        targets.push(position);
        return waitForPosition(collection, position, limits);
      },
      checkpoints: new ProcessCheckpoints(new InMemoryRecordStore()),
      positions: new FollowedPositions(),
      leases: null,
      node: 'one',
      log: { info: line, warn: line, error: line },
    });
    host.start();
    await time.pass(0);
  }

  it('is for what was stored when the term began, and for no later end of the log', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    await created('one');
    const atStart = await created('two');
    await start(async (_, { documentsUpToDate }) => {
      await gate;
      await documentsUpToDate('flows');
    });
    const later = await created('three');
    await created('four');
    open();
    await time.pass(100);
    assert.deepEqual(targets.slice(0, 3), [atStart, atStart, later]);
  });

  it('is for what the process has appended, and for what an earlier term has appended in its place meanwhile', async () => {
    const appended = () => store.log.findLast(({ type }) => type === 'ProjectCreated')?.position;
    const anotherTerm = {
      write: (write: StreamWrite<unknown, unknown>) => writer.write({ ...write, origin }),
    } as unknown as ProcessTools;
    await start(async (event, tools) => {
      if (event.data.id === 'late') await makeProject(event, anotherTerm);
      await makeProject(event, tools);
      await tools.documentsUpToDate('projects');
    });
    await created('one');
    await time.pass(100);
    assert.deepEqual(targets, [appended()]);
    await created('late');
    await time.pass(100);
    assert.equal(targets[1], appended());
  });

  for (const lagMs of [200, 1_000, 2_500, 5_000])
    it(`takes the lag of ${lagMs} ms, however long commands go on`, async () => {
      const ends: Array<{ readonly at: number; readonly position: number }> = [];
      const positions = new Positions(new Admission());
      const command = async (id: string) => {
        const position = await created(id);
        ends.push({ at: time.now, position });
        time.in(lagMs, () => positions.update('projection', new Map([['flows', { position, live: true }]])));
      };
      const handled: number[] = [];
      await command('first');
      await start(
        async ({ data }, { documentsUpToDate }) => {
          if (data.id !== 'removal') return;
          await documentsUpToDate('flows');
          handled.push(time.now);
        },
        async (name, position, limits) =>
          (await positions.passed({ names: [name] }, position, { strict: true, ...limits })) === 'reached',
      );
      for (let number = 0; number < 300; number += 1) {
        await command(number === 10 ? 'removal' : `o${number}`);
        await time.pass(100);
      }
      const removedAt = ends[11]?.at ?? 0;
      const waitedMs = (handled[0] ?? Number.POSITIVE_INFINITY) - removedAt;
      assert.ok(waitedMs >= lagMs && waitedMs <= lagMs + 300, `${waitedMs} ms`);
      positions.close();
    });

  it('delays no other reaction of a process with concurrency', async () => {
    const seen: unknown[] = [];
    await start(
      async ({ data }, { documentsUpToDate }) => {
        if (data.id !== 'free') await documentsUpToDate('flows');
        seen.push(data.id);
      },
      async (_collection, _position, { ms, signal }) => {
        await time.wait(ms);
        return signal.aborted;
      },
      2,
    );
    for (const id of ['one', 'two', 'three', 'free']) await created(id);
    await time.pass(60_000);
    assert.deepEqual([seen, lines], [['free'], ['waiting for a read model']]);
  });
});
