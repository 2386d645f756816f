import assert from 'node:assert/strict';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import { project } from '#domain/project/project.ts';
import { streamName } from '#domain/shared/entity.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessRunner } from '#process-engine/process-runner.ts';
import { makeProject, organizationCreated } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { InMemoryCheckpointStore } from '#test/support/fakes/in-memory-checkpoint-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const ids = Array.from({ length: 40 }, (_, number) => `one-${number}`);
const timeoutMs = 60_000;
/** The project that `makeProject` makes of an organization. */
const projectOf = (id: unknown) => `p${id}`;

describe('ReadAhead', () => {
  let store: AppendableEventStore;
  let writer: StreamWriter;
  let runner: ProcessRunner | null;
  let last: number;

  beforeEach(async () => {
    store = new AppendableEventStore();
    writer = new StreamWriter({ store });
    runner = null;
    for (const id of ids) last = await organizationCreated(writer, id, true);
    store.reads.length = 0;
  });

  afterEach(() => runner?.stop());

  /** Starts a process that loads a project of each organization. */
  function start(handle: Process['handle']): ProcessRunner {
    runner = new ProcessRunner({
      process: {
        name: 'follower',
        types: ['OrganizationCreated'],
        handles: () => true,
        loads: ({ data }) => ({ entity: project, id: projectOf(data.id) }),
        handle,
      },
      store,
      writer,
      documents: new ReadModel(store.log),
      waitForPosition: async () => true,
      checkpoints: new InMemoryCheckpointStore(),
      checkpointIntervalMs: 1,
      log: { info: () => undefined, error: () => undefined },
    });
    runner.start();
    return runner;
  }

  const readsOf = (id: string) =>
    store.reads.filter(([stream]) => stream === streamName(project, projectOf(id))).length;

  it('reads the streams of the next events while one is handled, each once, and handles them in order', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const seen: string[] = [];
    const following = start(async ({ data }, { load }) => {
      await gate;
      await load(project, projectOf(data.id));
      seen.push(String(data.id));
    });
    await eventually(() => readsOf('one-15') === 1);
    assert.equal(readsOf('one-16'), 0, 'not all of the log is read ahead');
    open();
    assert.notEqual(await following.waitUntilProcessed(last, timeoutMs), null);
    assert.deepEqual(seen, ids);
    for (const id of ids) assert.equal(readsOf(id), 1);
  });

  it('reads again, in its turn, what could not be read ahead', async () => {
    const read = store.read.bind(store);
    let failures = 0;
    store.read = async (stream, ...others) => {
      if (stream === streamName(project, projectOf('one-3')) && failures === 0) {
        failures += 1;
        throw new Error('away');
      }
      return read(stream, ...others);
    };
    const seen: string[] = [];
    const following = start(async ({ data }, { load }) => {
      assert.equal((await load(project, projectOf(data.id))).revision, -1);
      seen.push(String(data.id));
    });
    assert.notEqual(await following.waitUntilProcessed(last, timeoutMs), null);
    assert.equal(failures, 1);
    assert.deepEqual(seen, ids);
  });

  it('gives a state that it read ahead once: who loads the stream again gets it as it is now', async () => {
    const revisions: number[] = [];
    const following = start(async (event, tools) => {
      if (event.data.id !== 'one-0') return;
      revisions.push((await tools.load(project, projectOf('one-0'))).revision);
      await makeProject(event, tools);
      revisions.push((await tools.load(project, projectOf('one-0'))).revision);
    });
    assert.notEqual(await following.waitUntilProcessed(last, timeoutMs), null);
    assert.deepEqual(revisions, [-1, 0]);
  });
});
