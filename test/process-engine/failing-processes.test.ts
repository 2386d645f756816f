import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { eventControl, skippedEventsId } from '#domain/operator/event-control.ts';
import { type ProcessEvents, processControl } from '#domain/operator/process-control.ts';
import type { OrganizationEvents } from '#domain/organization/organization.ts';
import { project } from '#domain/project/project.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { type Process, process } from '#process-engine/process.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { ProcessHost } from '#process-engine/process-host.ts';
import { ProcessStatuses } from '#process-engine/process-statuses.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { makeProject, organizationCreated, origin } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { FollowedPositions } from '#test/support/fakes/followed-positions.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

/** Enough for ten attempts, which take a minute at least. */
const severalAttemptsMs = 90_000;
const tenant = { organizationId: 'corganization1', projectId: null, partnerId: null };
const stopped = 'A process has stopped at an event that it cannot handle: retry it, or skip the event';

describe('processes that fail', () => {
  let store: AppendableEventStore;
  let writer: StreamWriter;
  let checkpoints: ProcessCheckpoints;
  let time: SimulatedTime;
  let positions: FollowedPositions;
  let lines: string[];
  let host: ProcessHost;
  /** The read models that have stopped. */
  let behind: Set<string>;
  let followers: string[];

  beforeEach(() => {
    store = new AppendableEventStore();
    writer = new StreamWriter({ store });
    checkpoints = new ProcessCheckpoints(new InMemoryRecordStore());
    time = new SimulatedTime(new Random(1)).install();
    positions = new FollowedPositions();
    lines = [];
    behind = new Set();
    followers = [];
  });
  afterEach(async () => {
    await stop();
    time[Symbol.dispose]();
  });

  async function stop(): Promise<void> {
    const stopping = host.stop();
    await time.pass(1_000);
    await stopping;
  }

  const reacting = (name: string, handle: Process['handle'], concurrency?: number) =>
    process<OrganizationEvents>({
      name,
      on: { OrganizationCreated: handle },
      ...(concurrency === undefined ? {} : { concurrency }),
    });

  async function start(...processes: ReadonlyArray<Process>): Promise<void> {
    const tail = store.tail;
    const log = (_: object, message: string) => void lines.push(message);
    host = new ProcessHost({
      processes,
      store,
      tail: {
        firstEvent: (...given) => tail.firstEvent(...given),
        compare: (...given) => tail.compare(...given),
        trail: tail.trail,
        follow: (options) => {
          followers.push(options.name);
          return tail.follow(options);
        },
      },
      writer,
      documents: new ReadModel(store.log),
      waitForPosition: async (collection) => !behind.has(collection),
      checkpoints,
      positions,
      leases: null,
      node: 'one',
      log: { info: log, warn: log, error: log },
    });
    host.start();
    await time.pass(0);
  }

  const statusOf = async (name: string) => {
    await time.pass(2_000);
    const [status] = await new ProcessStatuses({ processes: [{ name }], store, tail: store.tail, checkpoints }).read();
    assert.ok(status !== undefined);
    return status;
  };

  const asked = async (name: string, ...events: ReadonlyArray<EventOf<ProcessEvents>>) => {
    const decide = () => E.right({ events, tenant });
    assert.ok(E.isRight(await writer.write({ entity: processControl, id: name, origin, decide })));
    await time.pass(2_000);
  };

  const created = (id: string) => organizationCreated(writer, id);

  /** A process whose reaction to one organization fails, and the numbers of its attempts. */
  function broken(name: string, poison: string, error = () => new Error('a bug'), concurrency?: number) {
    const attempts: number[] = [];
    const seen: unknown[] = [];
    const handle: Process['handle'] = async ({ data }) => {
      if (data.id === poison) {
        attempts.push(time.now);
        throw error();
      }
      seen.push(data.id);
    };
    return { process: reacting(name, handle, concurrency), attempts, seen };
  }

  for (const concurrency of [undefined, 2]) {
    const how = concurrency === undefined ? 'in order' : 'concurrently';

    it(`stops a process alone at an event that fails ten times over a minute, ${how}`, async () => {
      const one = broken('one', 'poison', undefined, concurrency);
      const seen: unknown[] = [];
      const other = reacting('other', async ({ data }) => void seen.push(data.id));
      const position = await created('poison');
      await start(one.process, other);
      await time.pass(40_000);
      assert.equal((await statusOf('one')).state, 'running');
      await time.pass(severalAttemptsMs);
      assert.ok(one.attempts.length >= 10, `${one.attempts.length} attempts`);
      assert.ok((one.attempts.at(-1) ?? 0) - (one.attempts[0] ?? 0) >= 60_000);
      assert.equal(lines.filter((line) => line === stopped).length, 1);
      const status = await statusOf('one');
      assert.deepEqual(
        [status.state, status.failure?.position, status.failure?.message],
        ['stopped', position, 'a bug'],
      );
      const attempts = one.attempts.length;
      const last = await created('next');
      await time.pass(severalAttemptsMs);
      assert.equal(one.attempts.length, attempts, 'it is not tried again by itself');
      assert.deepEqual(seen, ['poison', 'next']);
      assert.deepEqual(positions.positions.get('other'), { position: last, live: true });
      if (concurrency === undefined) assert.equal(positions.isLive('one'), false);
      else assert.deepEqual(one.seen, ['next']);
    });
  }

  it('stops immediately at an event whose effects need a stream that lacks events', async () => {
    const gap = { stream: 'flow-c1', expectedRevision: 0, foundRevision: 2 };
    const { process, attempts } = broken('one', 'poison', () => new UnreadableStreamError(gap, '$tb is 2'));
    await created('poison');
    await start(process);
    const { state, failure: met } = await statusOf('one');
    assert.deepEqual([state, attempts.length], ['stopped', 1]);
    assert.equal(met?.message, 'The stream flow-c1 lacks its events from revision 0 to 1: $tb is 2.');
  });

  it('shows the first of several events at which it has stopped, whichever reaction fails first', async () => {
    const handle: Process['handle'] = async ({ data }) => {
      // The reaction to the earlier event takes longer, so the process stops there last.
      if (data.id === 'early') await new Promise<void>((resolve) => time.in(20_000, resolve));
      if (data.id !== 'fine') throw new Error(`a bug with ${data.id}`);
    };
    const early = await created('early');
    await created('late');
    await start(reacting('one', handle, 2));
    await time.pass(severalAttemptsMs);
    assert.equal((await statusOf('one')).failure?.message, 'a bug with late');
    await time.pass(600_000);
    const { failure: first } = await statusOf('one');
    assert.deepEqual([first?.position, first?.message], [early, 'a bug with early']);
  });

  it('lets no caller wait for a process whose reaction keeps failing, long before it stops', async () => {
    const one = broken('one', 'poison');
    await created('poison');
    await start(one.process);
    await time.pass(1_000);
    assert.equal((await statusOf('one')).state, 'running');
    assert.equal(positions.isLive('one'), false);
  });

  it('passes the event after an operator has skipped it', async () => {
    const { process, seen } = broken('one', 'poison');
    await created('poison');
    await start(process);
    await time.pass(severalAttemptsMs);
    const { failure: met } = await statusOf('one');
    await asked('one', newEvent('ProcessEventSkipped', { process: 'one', eventId: met?.eventId ?? '' }));
    await created('next');
    assert.deepEqual([(await statusOf('one')).state, seen], ['running', ['next']]);
    assert.ok(positions.isLive('one'));
  });

  it('passes an event that an operator has skipped for everything, now and after a restart', async () => {
    const one = broken('one', 'poison');
    const other = broken('other', 'poison', undefined, 2);
    const position = await created('poison');
    await start(one.process, other.process);
    await time.pass(severalAttemptsMs);
    const { failure: met } = await statusOf('one');
    const { eventId = '', eventType = '' } = met ?? {};
    const skipped = newEvent('EventSkipped', { position, eventId, eventType, stream: null, reason: 'a bug' });
    const decide = () => E.right({ events: [skipped], tenant });
    assert.ok(E.isRight(await writer.write({ entity: eventControl, id: skippedEventsId, origin, decide })));
    await created('next');
    assert.deepEqual([(await statusOf('one')).state, one.seen], ['running', ['next']]);
    assert.deepEqual([(await statusOf('other')).state, other.seen], ['running', ['next']]);
    await stop();
    // It begins before the event, as after a change of its name.
    const later = broken('later', 'poison');
    await start(later.process);
    await time.pass(severalAttemptsMs);
    assert.deepEqual([(await statusOf('later')).state, later.seen], ['running', ['next']]);
  });

  it('stops again at the first failure of a retry, and continues when that succeeds', async () => {
    let isBroken = true;
    let attempts = 0;
    const handle: Process['handle'] = async () => {
      attempts += 1;
      if (isBroken) throw new Error('a bug');
    };
    await created('poison');
    await start(reacting('one', handle));
    await time.pass(severalAttemptsMs);
    const before = attempts;
    await asked('one', newEvent('ProcessRetried', { process: 'one' }));
    assert.deepEqual([(await statusOf('one')).state, attempts], ['stopped', before + 1]);
    isBroken = false;
    await asked('one', newEvent('ProcessRetried', { process: 'one' }));
    assert.equal((await statusOf('one')).state, 'running');
  });

  it('keeps the alarm on the next node, which stops there at its first failure', async () => {
    const { process, attempts } = broken('one', 'poison');
    await created('poison');
    await start(process);
    await time.pass(severalAttemptsMs);
    const { failure: met } = await statusOf('one');
    assert.ok(met !== null);
    await stop();
    const before = attempts.length;
    await start(process);
    const after = await statusOf('one');
    assert.deepEqual([after.state, after.failure, attempts.length], ['stopped', met, before + 1]);
    assert.equal(positions.isLive('one'), false);
  });

  it('counts a refusal that is final as a failure of the process', async () => {
    const refused: Process['handle'] = async (_, { write }) =>
      write({ entity: project, id: 'cproject1', decide: () => E.left(failure('flow-not-found', 'There is none.')) });
    await created('one');
    await start(reacting('one', refused));
    await time.pass(severalAttemptsMs);
    const status = await statusOf('one');
    assert.deepEqual([status.state, status.failure?.message], ['stopped', 'There is none.']);
  });

  for (const [name, error] of [
    ['a store that is unavailable', () => new UnavailableError('The blob store is closed.')],
    ['an append that no store accepts now', null],
  ] as const)
    it(`retries without a limit because of ${name}, and shows as waiting`, async () => {
      let isUnavailable = true;
      const handle: Process['handle'] = async (event, tools) => {
        if (isUnavailable && error !== null) throw error();
        await makeProject(event, tools);
      };
      const position = await created('one');
      store.beforeAppend = async ({ stream }) => {
        if (!isUnavailable || !stream.startsWith('project-')) return null;
        return { kind: 'unavailable', detail: 'It is down.', retryAfterSeconds: 1 };
      };
      await start(reacting('one', handle));
      await time.pass(600_000);
      const status = await statusOf('one');
      assert.deepEqual([status.state, status.failure], ['waiting', null]);
      assert.match(status.waitingFor ?? '', error === null ? /It is down/ : /The blob store is closed/);
      assert.equal(positions.isLive('one'), false);
      isUnavailable = false;
      await time.pass(20_000);
      const later = await statusOf('one');
      assert.deepEqual([later.state, later.waitingFor], ['running', null]);
      assert.ok(later.position >= position && positions.isLive('one'));
      assert.deepEqual(store.types('project-pone'), ['ProjectCreated']);
    });

  it('waits for a stopped read model, on the next node too, while other processes continue', async () => {
    const seen: unknown[] = [];
    behind.add('flows');
    const waiting = reacting('one', async (_, { documentsUpToDate }) => void (await documentsUpToDate('flows')));
    const other = reacting('other', async ({ data }) => void seen.push(data.id));
    await created('one');
    await start(waiting, other);
    await time.pass(600_000);
    await created('two');
    const status = await statusOf('one');
    assert.deepEqual([status.state, status.waitingFor, status.failure], ['waiting', 'flows', null]);
    assert.deepEqual([positions.isLive('one'), seen], [false, ['one', 'two']]);
    await stop();
    assert.equal((await statusOf('one')).state, 'waiting');
    await start(waiting, other);
    assert.equal(positions.isLive('one'), false, 'no caller waits before the first attempt');
    behind.clear();
    await time.pass(20_000);
    assert.equal((await statusOf('one')).state, 'running');
    assert.ok(positions.isLive('one'));
    assert.equal(lines.filter((line) => line === 'waiting for a read model').length, 2, 'one line in each term');
  });

  it('reads the requests of operators with one follower for all processes, once one of them fails', async () => {
    const failing = ['one', 'two', 'three'].map((name) => broken(name, 'poison').process);
    await start(...failing);
    await created('fine');
    await time.pass(2_000);
    assert.equal(followers.length, failing.length);
    await created('poison');
    await time.pass(severalAttemptsMs);
    assert.equal(followers.length, failing.length + 1);
    assert.equal(lines.filter((line) => line === stopped).length, failing.length);
  });
});
