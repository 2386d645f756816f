import assert from 'node:assert/strict';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import { openMongoDbCheckpointStore } from '#process-engine/checkpoints/mongodb/mongodb-checkpoint-store.ts';
import { runProcessUnderLease } from '#process-engine/leased-process.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessRunner } from '#process-engine/process-runner.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { makeProject, organizationCreated } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { InMemoryCheckpointStore } from '#test/support/fakes/in-memory-checkpoint-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';

const timeoutMs = 60_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('process on several nodes', () => {
  let store: AppendableEventStore;
  let opened: AsyncDisposableStack;
  beforeEach(() => {
    store = new AppendableEventStore();
    opened = new AsyncDisposableStack();
  });
  afterEach(() => opened.disposeAsync());

  /** Each organization gets a project. */
  const follower = (handle: Process['handle'] = makeProject): Process => ({
    name: 'follower',
    types: ['OrganizationCreated'],
    handles: () => true,
    handle,
  });
  /** The dependencies of one node, which knows nothing of other nodes' appends until it reads. */
  const dependencies = () => ({
    store,
    writer: new StreamWriter({ store }),
    documents: new ReadModel(store.log),
    waitForPosition: async () => true,
    log: quiet,
  });
  const created = (id: string) => organizationCreated(new StreamWriter({ store }), id);
  const projectsOf = (...ids: ReadonlyArray<string>) => ids.map((id) => store.types(`project-p${id}`));

  it('appends nothing twice when a node is superseded at any point of a reaction', async () => {
    const checkpoints = new InMemoryCheckpointStore();
    const places = ['before it decides', 'before it appends', 'after it has appended'] as const;
    for (const [index, place] of places.entries()) {
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const stop = () => {
        reach();
        return gate;
      };
      let slowAppends = false;
      store.beforeAppend = async () => {
        if (slowAppends && place === 'before it appends') {
          slowAppends = false;
          await stop();
        }
        return null;
      };
      const slow = follower(async (event, tools) => {
        if (place === 'before it decides') await stop();
        slowAppends = true;
        await makeProject(event, tools);
        if (place === 'after it has appended') await stop();
      });
      const token = 2 * index + 1;
      const id = place.replaceAll(' ', '');
      const older = new ProcessRunner({ ...dependencies(), process: slow, checkpoints: checkpoints.under(token) });
      const newer = new ProcessRunner({
        ...dependencies(),
        process: follower(),
        checkpoints: checkpoints.under(token + 1),
      });
      const ending = new AbortController();
      const superseded = assert.rejects(older.run(ending.signal), FencedError);
      const position = await created(id);
      await reached;
      newer.start();
      assert.notEqual(await newer.waitUntilProcessed(position, timeoutMs), null);
      open();
      await superseded;
      await newer.stop();
      assert.deepEqual(projectsOf(id), [['ProjectCreated']], place);
    }
  });

  for (const concurrency of [undefined, 4]) {
    it(`stops a superseded process while it waits for events${concurrency ? `, ${concurrency} concurrently` : ''}`, async () => {
      const checkpoints = new InMemoryCheckpointStore();
      const { promise: began, resolve: begin } = Promise.withResolvers<void>();
      const process = { ...follower(async () => begin()), ...(concurrency && { concurrency }) };
      const older = new ProcessRunner({ ...dependencies(), process, checkpoints: checkpoints.under(1) });
      const superseded = assert.rejects(older.run(new AbortController().signal), FencedError);
      await created('a');
      await began;
      await checkpoints.under(2).read('follower', store.identity);
      await created('b');
      await superseded;
    });
  }

  describeOnMongoDb('runProcessUnderLease with checkpoints on MongoDB', (server) => {
    it('continues on another node when one stops, and every node can read its progress', async () => {
      const url = server.newUrl();
      const leases = new InMemoryLeaseStore();
      const terms: string[] = [];
      const run = (holder: string) => {
        const ending = new AbortController();
        const ended = runProcessUnderLease({
          ...dependencies(),
          process: follower(),
          leases,
          holder,
          openCheckpoints: (fence) => {
            terms.push(`${holder} ${fence}`);
            return openMongoDbCheckpointStore({ url, fence, timeoutMs: patientTimeoutMs });
          },
          signal: ending.signal,
        });
        const stop = async () => {
          ending.abort();
          await ended;
        };
        opened.defer(stop);
        return stop;
      };
      const watched = openMongoDbCheckpointStore({ url, timeoutMs: patientTimeoutMs });
      opened.defer(() => watched.close());
      const lastAppended = async (position: number) => {
        const peek = () => watched.peek('follower', store.identity);
        await eventually(async () => (await peek()).position >= position, 'its checkpoint is stored');
        return (await peek()).lastAppended;
      };

      const stopOne = run('one');
      const first = await created('a');
      assert.equal(await lastAppended(first), store.streamOf('project-pa')[0]?.position);
      run('other');
      await stopOne();
      const second = await created('b');
      assert.equal(await lastAppended(second), store.streamOf('project-pb')[0]?.position);
      assert.deepEqual(terms, ['one 1', 'other 2']);
      assert.deepEqual(projectsOf('a', 'b'), [['ProjectCreated'], ['ProjectCreated']]);
    });
  });
});
