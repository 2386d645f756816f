import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import { organization } from '#domain/organization/organization.ts';
import type { ProcessEvents } from '#domain/process/events.ts';
import { processControl } from '#domain/process/process-control.ts';
import { project } from '#domain/project/project.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessRunner } from '#process-engine/process-runner.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { makeProject, organizationCreated, origin } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { InMemoryCheckpointStore } from '#test/support/fakes/in-memory-checkpoint-store.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const timeoutMs = 60_000;
const operators = { organizationId: 'corganization1', projectId: null, partnerId: null };

describe('ProcessRunner', () => {
  let store: AppendableEventStore;
  let writer: StreamWriter;
  let checkpoints: InMemoryCheckpointStore;
  let logged: string[];
  let informed: string[];
  /** The wait after each failure, in milliseconds. */
  let waits: number[];
  const runners: ProcessRunner[] = [];

  beforeEach(() => {
    store = new AppendableEventStore();
    writer = new StreamWriter({ store });
    checkpoints = new InMemoryCheckpointStore();
    logged = [];
    informed = [];
    waits = [];
  });

  afterEach(async () => {
    for (const runner of runners.splice(0)) await runner.stop();
  });

  function start(
    handle: Process['handle'],
    upToDate = true,
    concurrency?: number,
    checkpointIntervalMs?: number,
  ): ProcessRunner {
    const runner = newRunner(handle, upToDate, concurrency, checkpointIntervalMs);
    runners.push(runner);
    runner.start();
    return runner;
  }

  function newRunner(
    handle: Process['handle'],
    upToDate: boolean,
    concurrency?: number,
    checkpointIntervalMs = 1,
  ): ProcessRunner {
    return new ProcessRunner({
      process: {
        name: 'follower',
        types: ['OrganizationCreated'],
        remembers: ['OrganizationCreated'],
        handles: ({ data }) => data.partner === true,
        ...(concurrency === undefined ? {} : { concurrency }),
        handle,
      },
      store,
      writer,
      documents: new ReadModel(store.log),
      waitForPosition: async () => upToDate,
      checkpoints,
      checkpointIntervalMs,
      log: {
        info: (_, message) => void informed.push(message),
        error: (fields, message) => {
          logged.push(message);
          if ('retryDelayMs' in fields) waits.push(Number(fields.retryDelayMs));
        },
      },
    });
  }

  const created = (id: string, partner = true) => organizationCreated(writer, id, partner);

  /** Appends an event of a type that no runner of these tests handles. @returns its position */
  async function appendOther(id: string): Promise<number> {
    const tenant = { organizationId: 'one', projectId: id, partnerId: null };
    const events = [newEvent('ProjectCreated', { id, organizationId: 'one', name: id })];
    const handled = await writer.write({ entity: project, id, origin, decide: () => E.right({ events, tenant }) });
    assert.ok(E.isRight(handled));
    return handled.right.events.at(-1)?.position ?? 0;
  }

  describe('ProcessRunner on another log than its checkpoint’s', () => {
    const passed = async (log: string, position: number, lastAppended: number) => {
      await checkpoints.read('follower', log);
      await checkpoints.write('follower', log, { position, lastAppended });
    };

    for (const concurrency of [undefined, 2]) {
      const how = concurrency === undefined ? '' : ', concurrently';

      it(`restarts from the beginning when the log ends before its checkpoint${how}`, async () => {
        const position = await created('one');
        await passed(store.identity, position + 1_000, position + 1_000);
        const seen: unknown[] = [];
        const runner = start(async ({ data }) => void seen.push(data.id), true, concurrency);
        const last = await created('two');
        assert.equal(await runner.waitUntilProcessed(last, timeoutMs), 0);
        assert.deepEqual(seen, ['one', 'two']);
        const stored = async () => (await checkpoints.peek('follower', store.identity)).position;
        await eventually(async () => (await stored()) === last, 'its checkpoint is stored');
      });

      it(`restarts from the beginning of another log even when that reaches its checkpoint${how}`, async () => {
        const first = await created('one');
        const last = await created('two');
        await passed('3/another', first, last);
        const seen: unknown[] = [];
        const runner = start(async ({ data }) => void seen.push(data.id), true, concurrency);
        assert.equal(await runner.waitUntilProcessed(last, timeoutMs), 0);
        assert.deepEqual(seen, ['one', 'two']);
        const stored = () => checkpoints.peek('follower', store.identity);
        await eventually(async () => (await stored()).position === last, 'its checkpoint is stored');
        assert.deepEqual(await stored(), { position: last, lastAppended: 0, failure: null });
      });
    }

    it('waits for the first event of an empty log', async () => {
      await passed('3/another', 3, 3);
      const seen: unknown[] = [];
      const runner = start(async ({ data }) => void seen.push(data.id));
      assert.equal(await runner.waitUntilProcessed(await created('one'), timeoutMs), 0);
      assert.deepEqual(seen, ['one']);
      assert.equal((await checkpoints.peek('follower', '3/another')).position, 0);
    });

    it('stops before the log has its first event', async () => {
      await start(async () => undefined).stop();
      assert.deepEqual(logged, []);
    });
  });

  it('reacts in order to the events that concern it, and continues after its checkpoint on restart', async () => {
    const seen: string[] = [];
    const handle = async ({ data }: { data: object }) => {
      seen.push((data as { id: string }).id);
    };
    await created('one');
    await created('none', false);
    const first = start(handle);
    assert.equal(await first.waitUntilProcessed(await created('two'), timeoutMs), 0);
    await first.stop();
    assert.equal(await start(handle).waitUntilProcessed(await created('three'), timeoutMs), 0);
    assert.deepEqual(seen, ['one', 'two', 'three']);
  });

  it('knows the streams that it has met, while it follows the log from its beginning', async () => {
    const known: (boolean | null)[] = [];
    const handle: Process['handle'] = async (_, { hasMet }) => {
      known.push(hasMet(organization, 'one'), hasMet(organization, 'other'));
    };
    await created('one');
    const first = start(handle);
    await first.waitUntilProcessed(await created('two'), timeoutMs);
    await first.stop();
    await start(handle).waitUntilProcessed(await created('three'), timeoutMs);
    assert.deepEqual(known, [false, false, true, false, null, null]);
  });

  it('stores its checkpoint at once after a reaction that appends, and later after others', async () => {
    const stored = async () => (await checkpoints.peek('follower', store.identity)).position;
    const position = await created('one');
    const runner = start(makeProject, true, undefined, timeoutMs);
    await runner.waitUntilProcessed(position, timeoutMs);
    assert.equal(await stored(), position);
    await runner.stop();
    const next = await created('two');
    const idle = start(async () => undefined, true, undefined, timeoutMs);
    await idle.waitUntilProcessed(next, timeoutMs);
    assert.ok((await stored()) < next);
    await idle.stop();
    assert.ok((await stored()) >= next);
  });

  it('appends in the name of the actor who caused it, and returns the position of its last append', async () => {
    const runner = start(makeProject);
    const last = await runner.waitUntilProcessed(await created('one'), timeoutMs);
    const [cause, effect] = store.log;
    assert.equal(effect?.type, 'ProjectCreated');
    assert.equal(last, effect?.position);
    assert.equal(effect?.metadata.$causationId, cause?.id);
    assert.deepEqual(effect?.metadata.actor, origin.actor);
  });

  it('retries an event until its reaction succeeds, and logs each failure', async () => {
    let tries = 0;
    const runner = start(async () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
    });
    assert.notEqual(await runner.waitUntilProcessed(await created('one'), timeoutMs), null);
    assert.equal(tries, 3);
    assert.equal(logged.length, 2);
  });

  for (const concurrency of [undefined, 2]) {
    const how = concurrency === undefined ? 'in order' : 'concurrently';

    it(`waits longer after each failure of one event, and starts with the shortest wait for the next, ${how}`, async () => {
      const tries = new Map<unknown, number>();
      const handle: Process['handle'] = async ({ data }) => {
        const count = (tries.get(data.id) ?? 0) + 1;
        tries.set(data.id, count);
        if (count < 4) throw new Error('not yet');
      };
      const runner = start(handle, true, concurrency);
      for (const id of ['one', 'two'])
        assert.notEqual(await runner.waitUntilProcessed(await created(id), timeoutMs), null);
      const longest = [50, 100, 200, 50, 100, 200];
      assert.equal(waits.length, longest.length);
      for (const [index, most] of longest.entries()) {
        const wait = waits[index] ?? 0;
        assert.ok(wait >= most / 2 && wait <= most, `${waits} ms, at most ${longest}`);
      }
    });
  }

  it('handles no event while the read models are behind', async () => {
    const runner = start(async (_, { documentsUpToDate }) => {
      await documentsUpToDate('flows');
    }, false);
    assert.equal(await runner.waitUntilProcessed(await created('one'), 100), null);
  });

  it('logs once, and not as an error, that it waits for a read model', async () => {
    let tries = 0;
    start(async (_, { documentsUpToDate }) => {
      tries += 1;
      await documentsUpToDate('flows');
    }, false);
    await created('one');
    await eventually(async () => tries >= 3, 'it has tried again');
    assert.deepEqual([informed, logged], [['waiting for a read model'], []]);
  });

  it('keeps the position of its last append across a restart, for other nodes too', async () => {
    const first = start(makeProject);
    const last = await first.waitUntilProcessed(await created('one'), timeoutMs);
    await first.stop();
    const second = start(async () => undefined);
    const position = await created('two');
    assert.equal(await second.waitUntilProcessed(position, timeoutMs), last);
    await second.stop();
    assert.deepEqual(await checkpoints.peek('follower', store.identity), {
      position,
      lastAppended: last,
      failure: null,
    });
  });

  for (const concurrency of [undefined, 2]) {
    const how = concurrency === undefined ? 'in order' : 'concurrently';

    it(`stores the position of events that do not concern it, although the log is idle after them, ${how}`, async () => {
      const stored = async () => (await checkpoints.peek('follower', store.identity)).position;
      start(async () => undefined, true, concurrency);
      const concerns = await created('one');
      await eventually(async () => (await stored()) === concerns, 'the event that concerns it is passed');
      const other = await appendOther('a');
      await eventually(async () => (await stored()) === other, 'the next event is passed');
      const last = await appendOther('b');
      await eventually(async () => (await stored()) === last, 'and the one after it');
    });

    it(`stores at its stop how far it has seen the log, ${how}`, async () => {
      const position = await appendOther('a');
      const runner = start(async () => undefined, true, concurrency, 60_000);
      assert.equal(await runner.waitUntilProcessed(position, timeoutMs), 0);
      assert.equal((await checkpoints.peek('follower', store.identity)).position, 0);
      await runner.stop();
      assert.equal((await checkpoints.peek('follower', store.identity)).position, position);
    });

    it(`ends when another node has taken over, although no event concerns it, ${how}`, async () => {
      const runner = newRunner(async () => undefined, true, concurrency);
      const superseded = assert.rejects(runner.run(new AbortController().signal), FencedError);
      const position = await appendOther('a');
      assert.equal(await runner.waitUntilProcessed(position, timeoutMs), 0);
      await checkpoints.under(1).read('follower', store.identity);
      await appendOther('b');
      await superseded;
    });
  }

  it('stops in the middle of a reaction without an append, and repeats the event on restart', async () => {
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
    assert.notEqual(await second.waitUntilProcessed(position, timeoutMs), null);
    assert.deepEqual(store.types(), ['OrganizationCreated', 'ProjectCreated']);
  });

  it('sees the event that caused a reaction in the state, although its append is not answered yet', async () => {
    writer = new StreamWriter({ store, soleWriter: true });
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
    const adding = writer.write({ entity: organization, id: 'one', origin, decide });
    assert.equal(await seen, 1);
    answer();
    await adding;
  });

  for (const concurrency of [undefined, 2]) {
    const how = concurrency === undefined ? 'in order' : 'concurrently';

    describe(`ProcessRunner at an unreadable event, ${how}`, () => {
      const seen: unknown[] = [];
      const handle: Process['handle'] = async ({ data }) => void seen.push(data.id);
      let unreadable: RecordedEvent;

      beforeEach(async () => {
        seen.length = 0;
        await created('one');
        unreadable = store.appendUnreadable('organization-broken', 'OrganizationCreated');
      });

      const watched = () => checkpoints.peek('follower', store.identity);
      const hasStopped = () => eventually(async () => (await watched()).failure !== null, 'it has stopped');
      const runs = () => eventually(async () => (await watched()).failure === null, 'it runs');
      const asked = async (...events: ReadonlyArray<EventOf<ProcessEvents>>) => {
        const decide = () => E.right({ events, tenant: operators });
        assert.ok(E.isRight(await writer.write({ entity: processControl, id: 'follower', origin, decide })));
      };
      const skip = () => asked(newEvent('ProcessEventSkipped', { process: 'follower', eventId: unreadable.id }));
      const stops = () => logged.filter((line) => line.startsWith('A process has stopped'));

      it('stops with one log line, and stores the event and the reason', async () => {
        start(handle, true, concurrency);
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
        await eventually(() => stops().length === 1, 'it says so');
        assert.deepEqual(waits, [], 'it is not tried again by itself');
      });

      it('continues after the event once an operator skips it, even after a reset of the checkpoint', async () => {
        const first = start(handle, true, concurrency);
        await hasStopped();
        await skip();
        const last = await created('two');
        await eventually(async () => (await watched()).position >= last, 'it is past the event');
        assert.equal((await watched()).failure, null);
        assert.deepEqual(seen, ['one', 'two']);
        await first.stop();
        await checkpoints.reset('follower', store.identity);
        const again = start(handle, true, concurrency);
        assert.notEqual(await again.waitUntilProcessed(last, timeoutMs), null);
        assert.equal(stops().length, 1);
      });

      it('retries the event when an operator asks for it', async () => {
        start(handle, true, concurrency);
        await hasStopped();
        await asked(newEvent('ProcessRetried', { process: 'another' }));
        await asked(newEvent('ProcessRetried', { process: 'follower' }));
        await eventually(() => stops().length === 2, 'it has stopped there again');
        await skip();
        await runs();
      });

      it('resumes at the event when the next release can read it', async () => {
        const first = start(handle, true, concurrency);
        await hasStopped();
        await first.stop();
        assert.notEqual((await watched()).failure, null, 'it has not gone past the event');
        const { id, type, position, stream, revision } = unreadable;
        const data = { id: 'three', partner: true };
        const place = store.log.indexOf(unreadable);
        store.log[place] = { id, type, position, stream, revision, data, metadata: testMetadata };
        start(handle, true, concurrency);
        await runs();
        assert.deepEqual(seen, ['one', 'three']);
      });

      it('does not delay responses while the process has stopped', async () => {
        const runner = start(handle, true, concurrency);
        await hasStopped();
        assert.equal(await runner.waitUntilProcessed(await created('two'), timeoutMs), null);
      });

      it('ends while it waits for an operator', async () => {
        const runner = start(handle, true, concurrency);
        await hasStopped();
        await runner.stop();
        assert.equal(stops().length, 1);
      });
    });

    it(`stops when a reaction reads an unreadable event, ${how}`, async () => {
      const broken = store.appendUnreadable('organization-broken', 'OrganizationRenamed');
      start(
        async () => {
          void broken.data;
        },
        true,
        concurrency,
      );
      const position = await created('one');
      const watched = () => checkpoints.peek('follower', store.identity);
      await eventually(async () => (await watched()).failure !== null, 'it has stopped');
      const { failure } = await watched();
      assert.equal(failure?.position, position, 'it names the event that it was about to handle to');
      assert.match(failure?.message ?? '', new RegExp(broken.id), 'and the event that cannot be read');
    });
  }

  describe('ProcessRunner with concurrent reactions', () => {
    /** Reactions by organization, each of which waits until it is released before it appends. */
    class Gates {
      readonly begun: string[] = [];
      readonly #gates = new Map<string, PromiseWithResolvers<void>>();

      handle: Process['handle'] = async (event, tools) => {
        this.begun.push(String(event.data.id));
        await this.#of(String(event.data.id)).promise;
        await makeProject(event, tools);
      };

      release(...organizations: ReadonlyArray<string>): void {
        for (const id of organizations) this.#of(id).resolve();
      }

      #of(id: string): PromiseWithResolvers<void> {
        const gate = this.#gates.get(id) ?? Promise.withResolvers<void>();
        this.#gates.set(id, gate);
        return gate;
      }
    }

    it('reacts to other events while it has stopped at unreadable ones, and reports the first of those', async () => {
      const seen: unknown[] = [];
      const first = store.appendUnreadable('organization-broken', 'OrganizationCreated');
      const second = store.appendUnreadable('organization-broken', 'OrganizationCreated');
      start(async ({ data }) => void seen.push(data.id), true, 1);
      await created('one');
      await eventually(() => seen.length === 1, 'the other is done');
      const failure = async () => (await checkpoints.peek('follower', store.identity)).failure;
      await eventually(() => logged.length === 2, 'both have stopped');
      assert.equal((await failure())?.eventId, first.id);
      const events = [newEvent('ProcessEventSkipped', { process: 'follower', eventId: first.id })];
      const decide = () => E.right({ events, tenant: operators });
      await writer.write({ entity: processControl, id: 'follower', origin, decide });
      await eventually(async () => (await failure())?.eventId === second.id, 'the second is named');
    });

    it('starts as many reactions as allowed, and the next when one has ended', async () => {
      const gates = new Gates();
      for (const id of ['one', 'two', 'three']) await created(id);
      start(gates.handle, true, 2);
      await eventually(() => gates.begun.length === 2, 'two are begun');
      gates.release('two');
      await eventually(() => gates.begun.length === 3, 'the third is begun');
      assert.deepEqual(gates.begun, ['one', 'two', 'three']);
      gates.release('one', 'three');
    });

    it('keeps its checkpoint before the oldest unfinished event, and repeats that event on restart', async () => {
      const gates = new Gates();
      const positions: number[] = [];
      for (const id of ['zero', 'one', 'two', 'three']) positions.push(await created(id));
      const first = start(gates.handle, true, 4);
      gates.release('zero', 'two', 'three');
      await eventually(
        async () => (await checkpoints.peek('follower', store.identity)).position === positions[0],
        'the first is behind it',
      );
      assert.equal(await first.waitUntilProcessed(positions[1] ?? 0, 50), null);
      const stopped = first.stop();
      gates.release('one');
      await stopped;
      assert.equal((await checkpoints.peek('follower', store.identity)).position, positions[0]);
      const again = new Gates();
      again.release('one', 'two', 'three');
      const second = start(again.handle, true, 4);
      assert.notEqual(await second.waitUntilProcessed(positions[3] ?? 0, timeoutMs), null);
      assert.deepEqual(again.begun, ['one', 'two', 'three']);
      const last = positions[3] ?? 0;
      await eventually(
        async () => (await checkpoints.peek('follower', store.identity)).position >= last,
        'it is past all',
      );
    });

    it('continues with other events while one reaction pauses or waits for its retry', async () => {
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
      await eventually(() => tries.size === 22 && tries.get('fails') === 3, 'the others are done');
      assert.equal(await runner.waitUntilProcessed(failing, 20), null);
      assert.equal(logged.length, 2);
      await runner.stop();
    });

    it('appends nothing after it was asked to stop', async () => {
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

    it('retries from the last checkpoint when the checkpoint could not be written', async () => {
      const gates = new Gates();
      const write = checkpoints.write.bind(checkpoints);
      let failing = true;
      checkpoints.write = async (...args) => {
        if (failing && args[2].position > 0) throw new Error('the disk is full');
        return write(...args);
      };
      gates.release('one');
      const position = await created('one');
      start(gates.handle, true, 2);
      await eventually(() => logged.includes('a process will try again'), 'it says so');
      failing = false;
      await eventually(
        async () => (await checkpoints.peek('follower', store.identity)).position >= position,
        'it is written',
      );
      assert.ok(gates.begun.length >= 2);
    });
  });
});
