import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import { organization } from '#domain/organization/organization.ts';
import type { ProcessEvents } from '#domain/process/events.ts';
import { processControl } from '#domain/process/process-control.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessRunner } from '#process-engine/process-runner.ts';
import { makeProject, organizationCreated, origin } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { InMemoryCheckpointStore } from '#test/support/fakes/in-memory-checkpoint-store.ts';
import { eventually, testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';

const limitMilliseconds = 60_000;
const operators = { organizationId: 'corganization1', projectId: null, partnerId: null };

describe('process runner', () => {
  let store: AppendableEventStore;
  let handler: StreamWriter;
  let checkpoints: InMemoryCheckpointStore;
  let logged: string[];
  /** What was waited after each failure. */
  let waits: number[];
  const runners: ProcessRunner[] = [];

  beforeEach(() => {
    store = new AppendableEventStore();
    handler = new StreamWriter({ store });
    checkpoints = new InMemoryCheckpointStore();
    logged = [];
    waits = [];
  });

  afterEach(async () => {
    for (const runner of runners.splice(0)) await runner.stop();
  });

  function start(react: Process['react'], upToDate = true, atOnce?: number): ProcessRunner {
    const runner = new ProcessRunner({
      process: {
        name: 'follower',
        types: ['OrganizationCreated'],
        concerns: ({ data }) => data.partner === true,
        ...(atOnce === undefined ? {} : { atOnce }),
        react,
      },
      store,
      handler,
      documents: new ReadModel(store.log),
      reached: async () => upToDate,
      checkpoints,
      log: {
        error: (fields, message) => {
          logged.push(message);
          if ('retryMilliseconds' in fields) waits.push(Number(fields.retryMilliseconds));
        },
      },
    });
    runners.push(runner);
    runner.start();
    return runner;
  }

  const created = (id: string, partner = true) => organizationCreated(handler, id, partner);

  describe('on a log that is not the one it has seen', () => {
    const passed = async (log: string, position: number, lastAppended: number) => {
      await checkpoints.read('follower', log);
      await checkpoints.write('follower', log, { position, lastAppended });
    };

    for (const atOnce of [undefined, 2]) {
      const how = atOnce === undefined ? '' : ', several events at once';

      it(`begins anew where the log ends before what it has seen${how}`, async () => {
        const position = await created('one');
        await passed(store.identity, position + 1_000, position + 1_000);
        const seen: unknown[] = [];
        const runner = start(async ({ data }) => void seen.push(data.id), true, atOnce);
        const last = await created('two');
        assert.equal(await runner.waitUntilProcessed(last, limitMilliseconds), 0);
        assert.deepEqual(seen, ['one', 'two']);
        const told = async () => (await checkpoints.peek('follower', store.identity)).position;
        await eventually('others are told where it is now', async () => (await told()) === last);
      });

      it(`begins anew where the place it has seen is one of this log, too${how}`, async () => {
        const first = await created('one');
        const last = await created('two');
        await passed('3/another', first, last);
        const seen: unknown[] = [];
        const runner = start(async ({ data }) => void seen.push(data.id), true, atOnce);
        assert.equal(await runner.waitUntilProcessed(last, limitMilliseconds), 0);
        assert.deepEqual(seen, ['one', 'two']);
        const told = () => checkpoints.peek('follower', store.identity);
        await eventually('others are told where it is now', async () => (await told()).position === last);
        assert.deepEqual(await told(), { position: last, lastAppended: 0, failure: null });
      });
    }

    it('begins when the log does', async () => {
      await passed('3/another', 3, 3);
      const seen: unknown[] = [];
      const runner = start(async ({ data }) => void seen.push(data.id));
      assert.equal(await runner.waitUntilProcessed(await created('one'), limitMilliseconds), 0);
      assert.deepEqual(seen, ['one']);
      assert.equal((await checkpoints.peek('follower', '3/another')).position, 0);
    });

    it('ends where it was stopped before the log has begun', async () => {
      await start(async () => undefined).stop();
      assert.deepEqual(logged, []);
    });
  });

  it('reacts to what concerns it, in order, and goes on where it was after a restart', async () => {
    const seen: string[] = [];
    const react = async ({ data }: { data: object }) => {
      seen.push((data as { id: string }).id);
    };
    await created('one');
    await created('none', false);
    const first = start(react);
    assert.equal(await first.waitUntilProcessed(await created('two'), limitMilliseconds), 0);
    await first.stop();
    assert.equal(await start(react).waitUntilProcessed(await created('three'), limitMilliseconds), 0);
    assert.deepEqual(seen, ['one', 'two', 'three']);
  });

  it('appends in the name of whoever caused it, and tells how far its effects reach', async () => {
    const runner = start(makeProject);
    const last = await runner.waitUntilProcessed(await created('one'), limitMilliseconds);
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
    assert.notEqual(await runner.waitUntilProcessed(await created('one'), limitMilliseconds), null);
    assert.equal(tries, 3);
    assert.equal(logged.length, 2);
  });

  for (const atOnce of [undefined, 2]) {
    const how = atOnce === undefined ? 'in order' : 'several at once';

    it(`waits longer after each failure of one event, and for the next begins with the shortest wait, ${how}`, async () => {
      const tries = new Map<unknown, number>();
      const react: Process['react'] = async ({ data }) => {
        const count = (tries.get(data.id) ?? 0) + 1;
        tries.set(data.id, count);
        if (count < 4) throw new Error('not yet');
      };
      const runner = start(react, true, atOnce);
      for (const id of ['one', 'two'])
        assert.notEqual(await runner.waitUntilProcessed(await created(id), limitMilliseconds), null);
      const longest = [50, 100, 200, 50, 100, 200];
      assert.equal(waits.length, longest.length);
      for (const [index, most] of longest.entries()) {
        const wait = waits[index] ?? 0;
        assert.ok(wait >= most / 2 && wait <= most, `${waits} ms, at most ${longest}`);
      }
    });
  }

  it('does not react on read models that are behind', async () => {
    const runner = start(async (_, { documentsUpToDate }) => {
      await documentsUpToDate('flows');
    }, false);
    assert.equal(await runner.waitUntilProcessed(await created('one'), 100), null);
    assert.ok(logged.length > 0);
  });

  it('keeps how far its effects reach over a restart, and tells nodes that look at its checkpoint', async () => {
    const first = start(makeProject);
    const last = await first.waitUntilProcessed(await created('one'), limitMilliseconds);
    await first.stop();
    const second = start(async () => undefined);
    const position = await created('two');
    assert.equal(await second.waitUntilProcessed(position, limitMilliseconds), last);
    assert.deepEqual(await checkpoints.peek('follower', store.identity), {
      position,
      lastAppended: last,
      failure: null,
    });
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
    assert.notEqual(await second.waitUntilProcessed(position, limitMilliseconds), null);
    assert.deepEqual(store.types(), ['OrganizationCreated', 'ProjectCreated']);
  });

  it('knows which events it will do something about', async () => {
    const runner = start(async () => undefined);
    await created('none', false);
    assert.equal(runner.concerns(store.log), false);
    await created('one');
    assert.equal(runner.concerns(store.log), true);
  });

  it('sees its cause in the state, though whoever appended it is not answered yet', async () => {
    handler = new StreamWriter({ store, soleWriter: true });
    await created('one');
    const append = store.append.bind(store);
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    store.append =
      (...args) =>
      async () => {
        const appended = await append(...args)();
        await answered;
        return appended;
      };
    const { promise: seen, resolve: see } = Promise.withResolvers<number>();
    start(async ({ revision, data }, { load }) => {
      if (revision === 1) see((await load(organization, String(data.id))).revision);
    });
    const events = [newEvent('OrganizationCreated', { id: 'one', name: 'again', partner: true })];
    const decide = () => E.right({ events, tenant: null });
    const adding = handler.write({ entity: organization, id: 'one', origin, decide });
    assert.equal(await seen, 1);
    answer();
    await adding;
  });

  for (const atOnce of [undefined, 2]) {
    const how = atOnce === undefined ? 'in order' : 'several at once';

    describe(`at an event that it cannot read, ${how}`, () => {
      const seen: unknown[] = [];
      const react: Process['react'] = async ({ data }) => void seen.push(data.id);
      let unreadable: RecordedEvent;

      beforeEach(async () => {
        seen.length = 0;
        await created('one');
        unreadable = store.appendUnreadable('organization-broken', 'OrganizationCreated');
      });

      const watched = () => checkpoints.peek('follower', store.identity);
      const hasStopped = () => eventually('it has stopped', async () => (await watched()).failure !== null);
      const runs = () => eventually('it runs', async () => (await watched()).failure === null);
      const asked = async (...events: ReadonlyArray<EventOf<ProcessEvents>>) => {
        const decide = () => E.right({ events, tenant: operators });
        assert.ok(E.isRight(await handler.write({ entity: processControl, id: 'follower', origin, decide })));
      };
      const skip = () => asked(newEvent('ProcessEventSkipped', { process: 'follower', eventId: unreadable.id }));
      const stops = () => logged.filter((line) => line.startsWith('A process has stopped'));

      it('stops with one line in the log, and keeps where and why', async () => {
        start(react, true, atOnce);
        await hasStopped();
        const { position, failure } = await watched();
        assert.ok(position < unreadable.position);
        assert.deepEqual(
          { ...failure, message: '' },
          {
            eventId: unreadable.id,
            eventType: 'OrganizationCreated',
            position: unreadable.position,
            message: '',
          },
        );
        assert.match(failure?.message ?? '', /it is not JSON/);
        await eventually('it says so', () => stops().length === 1);
        assert.deepEqual(waits, [], 'it is not tried again by itself');
      });

      it('goes past the event once an operator has it skipped, and does so after a restart, too', async () => {
        const first = start(react, true, atOnce);
        await hasStopped();
        await skip();
        const last = await created('two');
        await eventually('it is past the event', async () => (await watched()).position >= last);
        assert.equal((await watched()).failure, null);
        assert.deepEqual(seen, ['one', 'two']);
        await first.stop();
        await checkpoints.reset('follower', store.identity);
        const again = start(react, true, atOnce);
        assert.notEqual(await again.waitUntilProcessed(last, limitMilliseconds), null);
        assert.equal(stops().length, 1);
      });

      it('tries the event again when an operator asks for it', async () => {
        start(react, true, atOnce);
        await hasStopped();
        await asked(newEvent('ProcessRetried', { process: 'another' }));
        await asked(newEvent('ProcessRetried', { process: 'follower' }));
        await eventually('it has stopped there again', () => stops().length === 2);
        await skip();
        await runs();
      });

      it('takes the event up where the next release can read it', async () => {
        const first = start(react, true, atOnce);
        await hasStopped();
        await first.stop();
        assert.notEqual((await watched()).failure, null, 'it has not gone past the event');
        const { id, type, position, stream, revision } = unreadable;
        const data = { id: 'three', partner: true };
        const place = store.log.indexOf(unreadable);
        store.log[place] = { id, type, position, stream, revision, data, metadata: testMetadata };
        start(react, true, atOnce);
        await runs();
        assert.deepEqual(seen, ['one', 'three']);
      });

      it('holds up no answer', async () => {
        const runner = start(react, true, atOnce);
        await hasStopped();
        assert.equal(await runner.waitUntilProcessed(await created('two'), limitMilliseconds), null);
      });

      it('ends when it is stopped while it waits for an operator', async () => {
        const runner = start(react, true, atOnce);
        await hasStopped();
        await runner.stop();
        assert.equal(stops().length, 1);
      });
    });

    it(`stops where its effects take an event that cannot be read, ${how}`, async () => {
      const broken = store.appendUnreadable('organization-broken', 'OrganizationRenamed');
      start(
        async () => {
          void broken.data;
        },
        true,
        atOnce,
      );
      const position = await created('one');
      const watched = () => checkpoints.peek('follower', store.identity);
      await eventually('it has stopped', async () => (await watched()).failure !== null);
      const { failure } = await watched();
      assert.equal(failure?.position, position, 'it names the event that it was about to react to');
      assert.match(failure?.message ?? '', new RegExp(broken.id), 'and the event that cannot be read');
    });
  }

  describe('of a process that reacts to several events at once', () => {
    /** Reactions by organization, each of which waits until it is let go before it appends. */
    class Gates {
      readonly begun: string[] = [];
      readonly #gates = new Map<string, PromiseWithResolvers<void>>();

      react: Process['react'] = async (event, tools) => {
        this.begun.push(String(event.data.id));
        await this.#of(String(event.data.id)).promise;
        await makeProject(event, tools);
      };

      letGo(...organizations: ReadonlyArray<string>): void {
        for (const id of organizations) this.#of(id).resolve();
      }

      #of(id: string): PromiseWithResolvers<void> {
        const gate = this.#gates.get(id) ?? Promise.withResolvers<void>();
        this.#gates.set(id, gate);
        return gate;
      }
    }

    it('reacts to others while it has stopped at events that it cannot read, and names the first', async () => {
      const seen: unknown[] = [];
      const first = store.appendUnreadable('organization-broken', 'OrganizationCreated');
      const second = store.appendUnreadable('organization-broken', 'OrganizationCreated');
      start(async ({ data }) => void seen.push(data.id), true, 1);
      await created('one');
      await eventually('the other is done', () => seen.length === 1);
      const failure = async () => (await checkpoints.peek('follower', store.identity)).failure;
      await eventually('both have stopped', () => logged.length === 2);
      assert.equal((await failure())?.eventId, first.id);
      const events = [newEvent('ProcessEventSkipped', { process: 'follower', eventId: first.id })];
      const decide = () => E.right({ events, tenant: operators });
      await handler.write({ entity: processControl, id: 'follower', origin, decide });
      await eventually('the second is named', async () => (await failure())?.eventId === second.id);
    });

    it('begins so many, and the next when one has ended', async () => {
      const gates = new Gates();
      for (const id of ['one', 'two', 'three']) await created(id);
      start(gates.react, true, 2);
      await eventually('two are begun', () => gates.begun.length === 2);
      gates.letGo('two');
      await eventually('the third is begun', () => gates.begun.length === 3);
      assert.deepEqual(gates.begun, ['one', 'two', 'three']);
      gates.letGo('one', 'three');
    });

    it('keeps its checkpoint behind the oldest that has not ended, and takes that up again', async () => {
      const gates = new Gates();
      const positions: number[] = [];
      for (const id of ['zero', 'one', 'two', 'three']) positions.push(await created(id));
      const first = start(gates.react, true, 4);
      gates.letGo('zero', 'two', 'three');
      await eventually(
        'the first is behind it',
        async () => (await checkpoints.peek('follower', store.identity)).position === positions[0],
      );
      assert.equal(await first.waitUntilProcessed(positions[1] ?? 0, 50), null);
      const stopped = first.stop();
      gates.letGo('one');
      await stopped;
      assert.equal((await checkpoints.peek('follower', store.identity)).position, positions[0]);
      const again = new Gates();
      again.letGo('one', 'two', 'three');
      const second = start(again.react, true, 4);
      assert.notEqual(await second.waitUntilProcessed(positions[3] ?? 0, limitMilliseconds), null);
      assert.deepEqual(again.begun, ['one', 'two', 'three']);
      const last = positions[3] ?? 0;
      await eventually(
        'it is past all',
        async () => (await checkpoints.peek('follower', store.identity)).position >= last,
      );
    });

    it('lets others work while one pauses, or waits to be tried again', async () => {
      const tries = new Map<string, number>();
      const runner = start(
        async ({ data }, { pauseUntil }) => {
          const id = String(data.id);
          const count = (tries.get(id) ?? 0) + 1;
          tries.set(id, count);
          if (id === 'pauses' && count === 1) await pauseUntil(new Date(Date.now() + 600_000).toISOString());
          if (id === 'fails' && count < 3) throw new Error('not yet');
        },
        true,
        1,
      );
      await created('pauses');
      const failing = await created('fails');
      for (let number = 0; number < 20; number += 1) await created(`other ${number}`);
      await eventually('the others are done', () => tries.size === 22 && tries.get('fails') === 3);
      assert.equal(await runner.waitUntilProcessed(failing, 20), null);
      assert.equal(logged.length, 2);
      await runner.stop();
    });

    it('appends nothing any more once it was told to stop', async () => {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const runner = start(
        async (event, tools) => {
          begin();
          await gate;
          await makeProject(event, tools);
        },
        true,
        2,
      );
      await created('one');
      await begun;
      const stopped = runner.stop();
      open();
      await stopped;
      assert.deepEqual(store.types(), ['OrganizationCreated']);
    });

    it('tries again where its checkpoint could not be written, from what was', async () => {
      const gates = new Gates();
      const write = checkpoints.write.bind(checkpoints);
      let failing = true;
      checkpoints.write = async (...args) => {
        if (failing && args[2].position > 0) throw new Error('the disk is full');
        return write(...args);
      };
      gates.letGo('one');
      const position = await created('one');
      start(gates.react, true, 2);
      await eventually('it says so', () => logged.includes('a process will try again'));
      failing = false;
      await eventually(
        'it is written',
        async () => (await checkpoints.peek('follower', store.identity)).position >= position,
      );
      assert.ok(gates.begun.length >= 2);
    });

    it('is waited for by no answer', async () => {
      const runner = start(async () => undefined, true, 2);
      await created('one');
      assert.equal(runner.concerns(store.log), false);
    });
  });
});
