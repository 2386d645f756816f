import assert from 'node:assert/strict';
import { CommandHandler } from '#event-store/command-handler.ts';
import type { Process } from '#processes/process.ts';
import { ProcessRunner } from '#processes/process-runner.ts';
import { AppendableEventStore } from '#test/support/appendable-event-store.ts';
import { InMemoryCheckpointStore } from '#test/support/in-memory-checkpoint-store.ts';
import { makeProject, organizationCreated, origin } from '#test/support/organization-follower.ts';
import { ReadModel } from '#test/support/read-model.ts';

const limitMilliseconds = 5_000;

describe('process runner', () => {
  let store: AppendableEventStore;
  let handler: CommandHandler;
  let checkpoints: InMemoryCheckpointStore;
  let logged: string[];
  const runners: ProcessRunner[] = [];

  beforeEach(() => {
    store = new AppendableEventStore();
    handler = new CommandHandler({ store });
    checkpoints = new InMemoryCheckpointStore();
    logged = [];
  });

  afterEach(async () => {
    for (const runner of runners.splice(0)) await runner.stop();
  });

  function start(react: Process['react'], upToDate = true): ProcessRunner {
    const runner = new ProcessRunner({
      process: {
        name: 'follower',
        types: ['OrganizationCreated'],
        concerns: ({ data }) => data.partner === true,
        react,
      },
      store,
      handler,
      documents: new ReadModel(store.log),
      reached: async () => upToDate,
      checkpoints,
      log: { error: (_, message) => logged.push(message) },
    });
    runners.push(runner);
    runner.start();
    return runner;
  }

  const created = (id: string, partner = true) => organizationCreated(handler, id, partner);

  it('begins anew on a log that ends before what it has seen: it is another one', async () => {
    const position = await created('one');
    await checkpoints.write('follower', { position: position + 1_000, lastAppended: position });
    const seen: unknown[] = [];
    const runner = start(async ({ data }) => void seen.push(data.id));
    assert.notEqual(await runner.passed(await created('two'), limitMilliseconds), null);
    assert.deepEqual(seen, ['one', 'two']);
  });

  it('reacts to what concerns it, in order, and goes on where it was after a restart', async () => {
    const seen: string[] = [];
    const react = async ({ data }: { data: object }) => {
      seen.push((data as { id: string }).id);
    };
    await created('one');
    await created('none', false);
    const first = start(react);
    assert.equal(await first.passed(await created('two'), limitMilliseconds), 0);
    await first.stop();
    assert.equal(await start(react).passed(await created('three'), limitMilliseconds), 0);
    assert.deepEqual(seen, ['one', 'two', 'three']);
  });

  it('appends in the name of whoever caused it, and tells how far its effects reach', async () => {
    const runner = start(makeProject);
    const last = await runner.passed(await created('one'), limitMilliseconds);
    const [cause, effect] = store.log;
    assert.equal(effect?.type, 'ProjectCreated');
    assert.equal(last, effect?.position);
    assert.equal(effect?.metadata.$causationId, cause?.id);
    assert.deepEqual(effect?.metadata.actor, origin.actor);
  });

  it('tries an event again until it succeeds, and says so', async () => {
    let tries = 0;
    const runner = start(async () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
    });
    assert.notEqual(await runner.passed(await created('one'), limitMilliseconds), null);
    assert.equal(tries, 3);
    assert.equal(logged.length, 2);
  });

  it('does not react on read models that are behind', async () => {
    const runner = start(async (_, { documentsUpToDate }) => {
      await documentsUpToDate('flows');
    }, false);
    assert.equal(await runner.passed(await created('one'), 100), null);
    assert.ok(logged.length > 0);
  });

  it('keeps how far its effects reach over a restart, and tells nodes that look at its checkpoint', async () => {
    const first = start(makeProject);
    const last = await first.passed(await created('one'), limitMilliseconds);
    await first.stop();
    const second = start(async () => undefined);
    const position = await created('two');
    assert.equal(await second.passed(position, limitMilliseconds), last);
    assert.deepEqual(await checkpoints.peek('follower'), { position, lastAppended: last });
  });

  it('ends in the middle of an event once it was told to, and takes it up again', async () => {
    const position = await created('one');
    const { promise: reacting, resolve: begun } = Promise.withResolvers<void>();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const first = start(async (event, tools) => {
      begun();
      await gate;
      await makeProject(event, tools);
    });
    await reacting;
    const stopped = first.stop();
    open();
    await stopped;
    assert.deepEqual(store.types(), ['OrganizationCreated']);
    const second = start(makeProject);
    assert.notEqual(await second.passed(position, limitMilliseconds), null);
    assert.deepEqual(store.types(), ['OrganizationCreated', 'ProjectCreated']);
  });

  it('knows which events it will do something about', async () => {
    const runner = start(async () => undefined);
    await created('none', false);
    assert.equal(runner.concerns(store.log), false);
    await created('one');
    assert.equal(runner.concerns(store.log), true);
  });
});
