import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { type ProcessEvents, processControl } from '#domain/operator/process-control.ts';
import { organization } from '#domain/organization/organization.ts';
import { project } from '#domain/project/project.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { nothingRead } from '#domain/shared/log-mark.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { startOfLog } from '#positions/position-poll.ts';
import { type Process, when, withReactions } from '#process-engine/process.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { ProcessHost, type ProcessHostOptions } from '#process-engine/process-host.ts';
import { currentOwner } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { makeProject, organizationCreated, origin } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { FollowedPositions } from '#test/support/fakes/followed-positions.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const timeoutMs = 60_000;
const operators = { organizationId: 'corganization1', projectId: null, partnerId: null };

/** A host that a test has started. */
interface Hosted {
  readonly positions: FollowedPositions;
  readonly stop: () => Promise<void>;
  /** Waits until the follower has passed a position. */
  readonly passed: (position: number, milliseconds?: number) => Promise<boolean>;
}

describe('ProcessHost', () => {
  let store: AppendableEventStore;
  let writer: StreamWriter;
  let records: InMemoryRecordStore;
  let checkpoints: ProcessCheckpoints;
  let logged: string[];
  let informed: string[];
  /** The wait after each failure, in milliseconds. */
  let waits: number[];
  const hosts: ProcessHost[] = [];

  beforeEach(() => {
    store = new AppendableEventStore();
    writer = new StreamWriter({ store });
    records = new InMemoryRecordStore();
    checkpoints = new ProcessCheckpoints(records);
    logged = [];
    informed = [];
    waits = [];
  });

  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.stop();
  });

  /** A process that reacts to the creation of partners. */
  const follower = (handle: Process['handle'], concurrency?: number) =>
    withReactions(
      {
        name: 'follower',
        remembers: ['OrganizationCreated'],
        ...(concurrency === undefined ? {} : { concurrency }),
      },
      { OrganizationCreated: when(({ data }: RecordedEvent) => data.partner === true, handle) },
    );

  function start(
    handle: Process['handle'],
    upToDate = true,
    concurrency?: number,
    options: Partial<ProcessHostOptions> = {},
  ): Hosted {
    const positions = new FollowedPositions();
    const host = new ProcessHost({
      processes: [follower(handle, concurrency)],
      store,
      tail: store.tail,
      writer,
      documents: new ReadModel(store.log),
      waitForPosition: async () => upToDate,
      checkpoints,
      positions,
      leases: null,
      node: 'one',
      saveIntervalMs: 1,
      log: {
        info: (_, message) => void informed.push(message),
        warn: (_, message) => void informed.push(message),
        error: (fields, message) => {
          logged.push(message);
          if ('retryDelayMs' in fields) waits.push(Number(fields.retryDelayMs));
        },
      },
      ...options,
    });
    hosts.push(host);
    host.start();
    return {
      positions,
      stop: () => host.stop(),
      passed: async (position, milliseconds = timeoutMs) => {
        if (concurrency === undefined) return positions.passed('follower', position, milliseconds);
        return eventually(async () => (await stored()).position >= position, 'it has passed', milliseconds).catch(
          () => false,
        );
      },
    };
  }

  /** The stored checkpoint of the follower. */
  const stored = async () => (await checkpoints.read())?.checkpoints.follower ?? startOfLog;

  /** Stores a checkpoint of the follower, as an earlier term has left it. */
  async function left(log: string, position: number, lastAppended: number): Promise<void> {
    const follower = { ...startOfLog, position, lastAppended };
    await checkpoints.save(0, {
      log,
      token: 0,
      checkpoints: { follower },
      effects: [],
      read: nothingRead,
      liveFrom: 0,
    });
  }

  const created = (id: string, partner = true) => organizationCreated(writer, id, partner);

  /** Appends an event of a type that no process of these tests handles. @returns its position */
  async function appendOther(id: string): Promise<number> {
    const tenant = { organizationId: 'one', projectId: id, partnerId: null };
    const events = [newEvent('ProjectCreated', { id, organizationId: 'one', name: id })];
    const handled = await writer.write({
      entity: project,
      id,
      origin,
      decide: () => E.right({ events, tenant }),
    });
    assert.ok(E.isRight(handled));
    return handled.right.events.at(-1)?.position ?? 0;
  }

  it('lets no caller wait until it has seen the whole log again', async () => {
    const held = Promise.withResolvers<void>();
    let seen = 0;
    const handle: Process['handle'] = async () => {
      seen += 1;
      await held.promise;
    };
    await created('one');
    const last = await created('two');
    // A checkpoint beyond the end of the log is of events that the log has lost.
    await left(store.identity, last + 1_000, 0);
    const host = start(handle);
    await eventually(() => seen === 1, 'it sees the first event again');
    await eventually(async () => (await stored()).position < last, 'its checkpoint is stored');
    const isLive = host.positions.isLive('follower');
    const liveFrom = (await checkpoints.read())?.liveFrom;
    held.resolve();
    assert.deepEqual([isLive, liveFrom], [false, last]);
    assert.ok(await host.passed(last));
    await eventually(() => host.positions.isLive('follower'), 'callers wait again');
    await host.stop();
    const next = start(handle);
    await eventually(() => next.positions.isLive('follower'), 'callers wait from the begin of the next term on');
  });

  it('handles an event for the project that it belongs to', async () => {
    const owners: string[] = [];
    const note: Process['handle'] = async () => void owners.push(currentOwner());
    const onProjects = withReactions({ name: 'follower' }, { ProjectCreated: note });
    const { passed } = start(note, true, undefined, { processes: [onProjects] });
    assert.ok(await passed(await appendOther('project-one')));
    assert.deepEqual(owners, ['project-one']);
  });

  describe('on another log than its checkpoint’s', () => {
    for (const concurrency of [undefined, 2]) {
      const how = concurrency === undefined ? '' : ', concurrently';

      it(`restarts from the beginning when the log ends before its checkpoint${how}`, async () => {
        const position = await created('one');
        await left(store.identity, position + 1_000, position + 1_000);
        const seen: unknown[] = [];
        start(async ({ data }) => void seen.push(data.id), true, concurrency);
        const last = await created('two');
        await eventually(() => seen.length === 2, 'it has seen both');
        assert.deepEqual(seen, ['one', 'two']);
        await eventually(async () => (await stored()).position === last, 'its checkpoint is stored');
      });

      it(`restarts from the beginning of another log even when that reaches its checkpoint${how}`, async () => {
        const first = await created('one');
        const last = await created('two');
        await left('3/another', first, last);
        const seen: unknown[] = [];
        const host = start(async ({ data }) => void seen.push(data.id), true, concurrency);
        assert.ok(await host.passed(last));
        assert.deepEqual(seen, ['one', 'two']);
        await eventually(async () => (await stored()).position === last, 'its checkpoint is stored');
        assert.deepEqual(await stored(), { ...startOfLog, position: last });
      });

      it(`continues before the events that a restored log has lost, although it has grown past them${how}`, async () => {
        await created('one');
        await created('two');
        const first = start(async () => undefined, true, concurrency);
        assert.ok(await first.passed(await created('lost')));
        await first.stop();
        store = store.backup(2);
        writer = new StreamWriter({ store });
        for (const id of ['three', 'four', 'five']) await created(id);
        const seen: unknown[] = [];
        const second = start(async ({ data }) => void seen.push(data.id), true, concurrency);
        assert.ok(await second.passed(await store.lastPosition()));
        assert.deepEqual(seen.slice(-3), ['three', 'four', 'five']);
        assert.match(informed.join(), /no longer has events that processes have seen/);
      });
    }

    it('waits for the first event of an empty log', async () => {
      await left('3/another', 3, 3);
      const seen: unknown[] = [];
      const host = start(async ({ data }) => void seen.push(data.id));
      assert.ok(await host.passed(await created('one')));
      assert.deepEqual(seen, ['one']);
    });

    it('stops before the log has its first event', async () => {
      await start(async () => undefined).stop();
      assert.deepEqual(logged, []);
    });
  });

  it('reacts in order to the events that concern it, and continues after its checkpoint on restart', async () => {
    const seen: string[] = [];
    const handle: Process['handle'] = async ({ data }) => void seen.push(String(data.id));
    await created('one');
    await created('none', false);
    const first = start(handle);
    assert.ok(await first.passed(await created('two')));
    await first.stop();
    assert.ok(await start(handle).passed(await created('three')));
    assert.deepEqual(seen, ['one', 'two', 'three']);
  });

  it('delays no response between a failure of its own and its restart', async () => {
    const host = start(async () => undefined);
    assert.ok(await host.passed(await created('one')));
    assert.equal(host.positions.isLive('follower'), true);
    await checkpoints.take(1, store.identity);
    await created('two');
    await eventually(() => !host.positions.isLive('follower'), 'no caller waits');
  });

  it('knows the streams that it has seen, while it follows the log from its beginning', async () => {
    const known: (boolean | null)[] = [];
    const handle: Process['handle'] = async (_, { hasSeen }) => {
      known.push(hasSeen(organization, 'one'), hasSeen(organization, 'other'));
    };
    await created('one');
    const first = start(handle);
    await first.passed(await created('two'));
    await first.stop();
    await start(handle).passed(await created('three'));
    assert.deepEqual(known, [false, false, true, false, null, null]);
  });

  it('stores its checkpoint before the next event after a reaction that appends, and later after others', async () => {
    const position = await created('one');
    const before: number[] = [];
    const handle: Process['handle'] = async (event, tools) => {
      before.push((await stored()).position);
      await makeProject(event, tools);
    };
    const next = await created('two');
    const host = start(handle, true, undefined, { saveIntervalMs: timeoutMs });
    assert.ok(await host.passed(next));
    assert.deepEqual(before, [0, position]);
    await host.stop();
    const last = await created('three');
    const idle = start(async () => undefined, true, undefined, { saveIntervalMs: timeoutMs });
    await idle.passed(last);
    assert.ok((await stored()).position < last);
    await idle.stop();
    assert.ok((await stored()).position >= last);
  });

  it('appends in the name of the actor who caused it, and reports the effect before it has passed the event', async () => {
    const host = start(makeProject);
    assert.ok(await host.passed(await created('one')));
    const [cause, effect] = store.log;
    assert.equal(effect?.type, 'ProjectCreated');
    assert.deepEqual(host.positions.effects, [['follower', cause?.position, effect?.position]]);
    assert.equal(effect?.metadata.$causationId, cause?.id);
    assert.deepEqual(effect?.metadata.actor, origin.actor);
  });

  it('retries an event until its reaction succeeds, and logs each failure', async () => {
    let tries = 0;
    const host = start(async () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
    });
    assert.ok(await host.passed(await created('one')));
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
      const host = start(handle, true, concurrency);
      for (const id of ['one', 'two']) assert.ok(await host.passed(await created(id)));
      const longest = [50, 100, 200, 50, 100, 200];
      assert.equal(waits.length, longest.length);
      for (const [index, most] of longest.entries()) {
        const wait = waits[index] ?? 0;
        assert.ok(wait >= most / 2 && wait <= most, `${waits} ms, at most ${longest}`);
      }
    });
  }

  it('handles no event while the read models are behind', async () => {
    const host = start(async (_, { documentsUpToDate }) => {
      await documentsUpToDate('flows');
    }, false);
    assert.equal(await host.passed(await created('one'), 100), false);
  });

  it('logs once, and not as an error, that it waits for a read model', async () => {
    let tries = 0;
    const looks: number[] = [];
    start(
      async (_, { documentsUpToDate }) => {
        tries += 1;
        await documentsUpToDate('flows');
      },
      false,
      undefined,
      { waitForPosition: async (_, position) => looks.push(position) < 0 },
    );
    const position = await created('one');
    await eventually(async () => looks.length >= 3, 'it has looked again');
    assert.deepEqual([informed, logged, tries], [['waiting for a read model'], [], 1]);
    assert.deepEqual(new Set(looks), new Set([position]));
  });

  it('keeps the position of its last append across a restart', async () => {
    const first = start(makeProject);
    assert.ok(await first.passed(await created('one')));
    await first.stop();
    const lastAppended = store.log.at(-1)?.position;
    const second = start(async () => undefined);
    const position = await created('two');
    assert.ok(await second.passed(position));
    await second.stop();
    assert.deepEqual(await stored(), { ...startOfLog, position, lastAppended });
  });

  for (const concurrency of [undefined, 2]) {
    const how = concurrency === undefined ? 'in order' : 'concurrently';

    it(`stores the position of events that do not concern it, although the log is idle after them, ${how}`, async () => {
      start(async () => undefined, true, concurrency);
      const concerns = await created('one');
      await eventually(async () => (await stored()).position === concerns, 'the event that concerns it is passed');
      const other = await appendOther('a');
      await eventually(async () => (await stored()).position === other, 'the next event is passed');
      const last = await appendOther('b');
      await eventually(async () => (await stored()).position === last, 'and the one after it');
    });

    it(`stores at its stop how far it has seen the log, ${how}`, async () => {
      const seen: unknown[] = [];
      await created('one');
      const position = await appendOther('a');
      const handle: Process['handle'] = async ({ data }) => void seen.push(data.id);
      const host = start(handle, true, concurrency, { saveIntervalMs: timeoutMs });
      await eventually(() => seen.length === 1, 'it has seen the log');
      assert.equal((await stored()).position, 0);
      await host.stop();
      assert.equal((await stored()).position, position);
    });

    it(`ends its term when another node has taken over, although no event concerns it, ${how}`, async () => {
      start(async () => undefined, true, concurrency);
      const position = await appendOther('a');
      await eventually(async () => (await stored()).position === position, 'it runs');
      await checkpoints.take(1, store.identity);
      await appendOther('b');
      const message = 'The processes have failed and are started again';
      await eventually(() => logged.includes(message), 'the term has ended');
      assert.equal((await stored()).position, position);
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
    assert.ok(await second.passed(position));
    assert.deepEqual(store.types(), ['OrganizationCreated', 'ProjectCreated']);
  });

  it('sees the event that caused a reaction in the state, although its append is not answered yet', async () => {
    writer = new StreamWriter({ store, soleWriter: true });
    await created('one');
    const append = store.append.bind(store);
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    store.append = async (...args) => {
      const appended = await append(...args);
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

    describe(`at an unreadable event, ${how}`, () => {
      const seen: unknown[] = [];
      const handle: Process['handle'] = async ({ data }) => void seen.push(data.id);
      let unreadable: RecordedEvent;

      beforeEach(async () => {
        seen.length = 0;
        await created('one');
        unreadable = store.appendUnreadable('organization-broken', 'OrganizationCreated');
      });

      const hasStopped = () => eventually(async () => (await stored()).failure !== null, 'it has stopped');
      const runs = () => eventually(async () => (await stored()).failure === null, 'it runs');
      const asked = async (...events: ReadonlyArray<EventOf<ProcessEvents>>) => {
        const decide = () => E.right({ events, tenant: operators });
        assert.ok(E.isRight(await writer.write({ entity: processControl, id: 'follower', origin, decide })));
      };
      const skip = () => asked(newEvent('ProcessEventSkipped', { process: 'follower', eventId: unreadable.id }));
      const stops = () => logged.filter((line) => line.startsWith('A process has stopped'));

      it('stops with one log line, and stores the event and the reason', async () => {
        start(handle, true, concurrency);
        await hasStopped();
        const { position, failure } = await stored();
        assert.ok(position < unreadable.position);
        assert.deepEqual(
          { ...failure, message: '' },
          {
            eventId: unreadable.id,
            eventType: 'OrganizationCreated',
            position: unreadable.position,
            message: '',
            stream: unreadable.stream,
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
        await eventually(async () => (await stored()).position >= last, 'it is past the event');
        assert.equal((await stored()).failure, null);
        assert.deepEqual(seen, ['one', 'two']);
        await first.stop();
        await left(store.identity, 0, 0);
        const again = start(handle, true, concurrency);
        assert.ok(await again.passed(last));
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
        assert.notEqual((await stored()).failure, null, 'it has not gone past the event');
        const { id, type, position, stream, revision } = unreadable;
        const data = { id: 'three', partner: true };
        const place = store.log.indexOf(unreadable);
        store.log[place] = { id, type, position, stream, revision, data, metadata: testMetadata };
        start(handle, true, concurrency);
        await runs();
        assert.deepEqual(seen, ['one', 'three']);
      });

      it('does not delay responses while the process has stopped', async () => {
        const host = start(handle, true, concurrency);
        await hasStopped();
        if (concurrency === undefined) assert.equal(host.positions.isLive('follower'), false);
        else assert.deepEqual(host.positions.declared, []);
      });

      it('ends while it waits for an operator', async () => {
        const host = start(handle, true, concurrency);
        await hasStopped();
        await host.stop();
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
      await eventually(async () => (await stored()).failure !== null, 'it has stopped');
      const { failure } = await stored();
      assert.equal(failure?.position, position, 'it names the event that it was about to handle to');
      assert.match(failure?.message ?? '', new RegExp(broken.id), 'and the event that cannot be read');
    });
  }

  describe('with concurrent reactions', () => {
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
      const failure = async () => (await stored()).failure;
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
      await eventually(async () => (await stored()).position === positions[0], 'the first is behind it');
      assert.equal(await first.passed(positions[1] ?? 0, 50), false);
      const stopped = first.stop();
      gates.release('one');
      await stopped;
      assert.equal((await stored()).position, positions[0]);
      const again = new Gates();
      again.release('one', 'two', 'three');
      const second = start(again.handle, true, 4);
      assert.ok(await second.passed(positions[3] ?? 0));
      assert.deepEqual(again.begun, ['one', 'two', 'three']);
      const last = positions[3] ?? 0;
      await eventually(async () => (await stored()).position >= last, 'it is past all');
    });

    it('waits for nothing any more when a reaction has succeeded, although an older one is unfinished', async () => {
      const gates = new Gates();
      for (const id of ['one', 'two']) await created(id);
      const waiting = { ...startOfLog, waitingFor: 'the read model flows' };
      await checkpoints.save(0, {
        log: store.identity,
        token: 0,
        checkpoints: { follower: waiting },
        effects: [],
        read: nothingRead,
        liveFrom: 0,
      });
      start(gates.handle, true, 2);
      await eventually(() => gates.begun.length === 2, 'both are begun');
      gates.release('two');
      await eventually(async () => (await stored()).waitingFor === null, 'it is stored');
      assert.equal((await stored()).position, 0);
      gates.release('one');
    });

    it('continues with other events while one reaction pauses or waits for its retry', async () => {
      const tries = new Map<string, number>();
      const host = start(
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
      assert.equal(await host.passed(failing, 20), false);
      assert.equal(logged.length, 2);
      await host.stop();
    });

    it('appends nothing after it was asked to stop', async () => {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const host = start(
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
      const stopped = host.stop();
      open();
      await stopped;
      assert.deepEqual(store.types(), ['OrganizationCreated']);
    });

    it('writes the checkpoint again when it could not be written', async () => {
      const gates = new Gates();
      let failing = true;
      records.beforePut = async () => {
        if (failing) throw new UnavailableError('the disk is full');
      };
      gates.release('one');
      const position = await created('one');
      start(gates.handle, true, 2);
      const message = 'The store of the checkpoints of processes cannot be used and is tried again';
      await eventually(() => informed.includes(message), 'it says so');
      failing = false;
      await eventually(async () => (await stored()).position >= position, 'it is written');
      assert.deepEqual(gates.begun, ['one']);
    });

    it('delays no response, because its reactions are concurrent', async () => {
      const host = start(async () => undefined, true, 2);
      await created('one');
      assert.deepEqual(host.positions.declared, []);
    });
  });
});
