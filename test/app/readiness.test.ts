import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { createReadiness, type ReadinessDependencies } from '#app/readiness.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { ProcessStatuses } from '#process-engine/process-statuses.ts';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';

const well: ReadinessDependencies = {
  verification: async () => null,
  batchesRun: async () => true,
  events: { lastPosition: async () => 7 },
  ensureWritable: async () => undefined,
  documents: { status: async () => [] },
  projections: { status: () => [], following: () => ({ live: true, detail: 'thread running' }) },
  processes: { read: async () => [] },
};

const statusOf = (fields: Partial<ProjectionStatus>): ProjectionStatus => ({
  ...{
    name: 'flows',
    version: 1,
    state: 'running',
    ready: true,
    begunAt: 0,
    position: 20,
    failure: null,
    rebuild: null,
  },
  incompleteStreams: noIncompleteStreams,
  ...fields,
});

const checksOf = async (needs: Partial<ReadinessDependencies>) => {
  const checks = await createReadiness({ ...well, ...needs })();
  return Object.fromEntries(
    checks.map(({ name, ready, detail }) => [name, `${ready ? 'ready' : 'not ready'}: ${detail}`]),
  );
};

describe('createReadiness', () => {
  it('reports each store by name', async () => {
    assert.deepEqual(await checksOf({}), {
      'event-store': 'ready: at position 7',
      'read-store': 'ready: 0 read models',
      projections: 'ready: thread running',
      processes: 'ready: 0 processes',
      batches: 'ready: a node runs batches',
      history: 'ready: not verified yet',
    });
  });

  it('reports what the last verification of the log found, and stays ready', async () => {
    const last = { time: '2026-01-05T03:30:00.000Z', wholeTime: null, events: 1, digest: null };
    const found = { ...last, findings: ['flow-a was altered'], findingCount: 2 };
    const detailOf = async (verification: ReadinessDependencies['verification']) =>
      (await checksOf({ verification })).history;
    assert.equal(
      await detailOf(async () => found),
      'ready: ALARM: the verification at 2026-01-05T03:30:00.000Z found that flow-a was altered (and 1 more): run events verify --digests',
    );
    assert.equal(
      await detailOf(async () => ({ ...last, findings: [], findingCount: 0 })),
      'ready: verified at 2026-01-05T03:30:00.000Z',
    );
    assert.equal(await detailOf(async () => 'off'), 'ready: not verified: no digests are signed');
    assert.equal(
      await detailOf(() => Promise.reject(new UnavailableError('It is down.'))),
      'ready: not known: the read store does not answer',
    );
  });

  it('reports the store that does not answer, and hides internal error messages', async () => {
    const checks = await checksOf({
      events: { lastPosition: () => Promise.reject(new UnavailableError('It is down.')) },
      documents: { status: () => Promise.reject(new Error('mongodb://user:secret@host')) },
    });
    assert.equal(checks['event-store'], 'not ready: It is down.');
    assert.equal(checks['read-store'], 'not ready: it failed');
    assert.equal(checks.projections, 'ready: thread running');
  });

  it('reports a store that hangs without delaying the report of the others', async () => {
    const checks = await checksOf({ events: { lastPosition: () => new Promise(() => undefined) } });
    assert.equal(checks['event-store'], 'not ready: no answer in time');
    assert.equal(checks['read-store'], 'ready: 0 read models');
  });

  it('reports how far the first fill of read models is', async () => {
    const fill = (position: number) => {
      const rebuild = { position, target: 200, eventsPerSecond: 10, secondsLeft: 9 };
      return statusOf({ state: 'rebuilding', ready: false, rebuild });
    };
    const following = () => ({ live: false, detail: 'catching up, token 3' });
    const checks = await checksOf({ projections: { status: () => [fill(190), fill(97)], following } });
    const detail = 'catching up, token 3; 2 read models are filled for the first time: 48% of the log';
    assert.equal(checks.projections, `not ready: ${detail}`);
  });

  it('stays ready and names the first streams that lacked events when read models were built', async () => {
    const streamOf = (key: string) => ({ stream: `flow-${key}`, expectedRevision: 0, revision: 2 });
    const built = (...keys: ReadonlyArray<string>) =>
      statusOf({ incompleteStreams: { count: keys.length, isExact: true, first: keys.map(streamOf) } });
    const detailOf = async (...status: ReadonlyArray<ProjectionStatus>) =>
      (await checksOf({ projections: { ...well.projections, status: () => status } })).projections;
    const alarm = 'ready: thread running; ALARM: read models were built from streams that lack events';
    assert.equal(
      await detailOf(built('a'), built('a', 'b'), built()),
      `${alarm}: flow-a, flow-b: see projections list`,
    );
    assert.equal(
      await detailOf(built('a', 'b', 'c', 'd')),
      `${alarm}: flow-a, flow-b, flow-c, …: see projections list`,
    );
  });

  it('does not wait for figures that a node does not know right after its start', async () => {
    const checks = await checksOf({ batchesRun: () => new Promise(() => undefined) });
    assert.equal(checks.batches, 'ready: not known yet');
  });

  it('names the event at which a projection has stopped, without the event’s contents', async () => {
    const failure = {
      eventId: 'event-1',
      eventType: 'FlowRenamed',
      position: 12,
      message: 'a quoted text',
      stream: 'flow-1',
    };
    const stopped = statusOf({ state: 'stopped', failure });
    const checks = await checksOf({ projections: { ...well.projections, status: () => [stopped] } });
    const cause = 'flows at position 12 (event event-1, FlowRenamed)';
    assert.equal(checks.projections, `not ready: stopped: ${cause}; thread running`);
  });

  it('stays ready and names the event at which a process has stopped, without the event’s contents', async () => {
    const failure = {
      eventId: 'event-1',
      eventType: 'FlowDeleted',
      position: 12,
      message: 'a quoted text',
      stream: 'flow-1',
    };
    const stopped = { name: 'follower', state: 'stopped', position: 3, failure, waitingFor: null } as const;
    const running = { name: 'other', state: 'running', position: 20, failure: null, waitingFor: null } as const;
    const checks = await checksOf({ processes: { read: async () => [stopped, running] } });
    assert.equal(checks.processes, 'ready: stopped: follower at position 12 (event event-1, FlowDeleted)');
  });

  it('names the processes that wait', async () => {
    const waiting = { name: 'one', state: 'waiting', position: 3, failure: null, waitingFor: 'flows' } as const;
    const checks = await checksOf({ processes: { read: async () => [waiting] } });
    assert.equal(checks.processes, 'ready: waiting: one for flows');
  });

  it('names a stopped projection whose failure is unknown', async () => {
    const stopped = statusOf({ state: 'stopped' });
    const checks = await checksOf({ projections: { ...well.projections, status: () => [stopped] } });
    assert.equal(checks.projections, 'not ready: stopped: flows; thread running');
  });
});

describe('createReadiness while EventStoreDB is unavailable', function () {
  this.timeout(30_000);

  /** Far fewer turns than any wait for a timer or a server takes. */
  const turns = 50;
  let double: EventStoreDbDouble;
  let events: EventStoreDbEventStore;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    events = openEventStoreDbEventStore({ url: double.url, streamPrefix: 'test.', log: pino({ level: 'silent' }) });
    await events.lastPosition();
  });
  afterEach(async () => {
    double.thaw();
    await events.close();
    await double.kill();
  });

  /** Whether the server is known to be unavailable, so that a read does not wait for it. */
  const refusesImmediately = async () => {
    const began = performance.now();
    await assert.rejects(events.lastPosition(), UnavailableError);
    return performance.now() - began < 100;
  };

  const outages: ReadonlyArray<readonly [string, () => Promise<void>]> = [
    ['killed', () => double.kill()],
    ['frozen', async () => double.freeze()],
  ];

  for (const [name, leave] of outages)
    it(`waits neither for the server that was ${name} nor for a timer, and names the cause`, async () => {
      await leave();
      await eventually(refusesImmediately);
      const processes = new ProcessStatuses({
        processes: [{ name: 'follower' }],
        store: events,
        tail: { firstEvent: () => assert.fail('it waits for the store') },
        checkpoints: { read: () => assert.fail('which log it is cannot be known') },
      });
      const asked = createReadiness({ ...well, events, processes })();
      let late = true;
      void asked.then(() => {
        late = false;
      });
      for (let turn = 0; turn < turns && late; turn += 1) await nextTurn();
      assert.ok(!late, `no answer within ${turns} turns of the event loop`);
      const details = Object.fromEntries((await asked).map((check) => [check.name, check]));
      for (const check of [details['event-store'], details.processes]) {
        assert.equal(check?.ready, false);
        assert.match(check?.detail ?? '', /^The event store cannot be read: it /);
      }
    });
});
