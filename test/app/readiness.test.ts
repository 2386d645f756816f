import assert from 'node:assert/strict';
import { createReadiness, type ReadinessDependencies } from '#app/readiness.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const well: ReadinessDependencies = {
  events: { lastPosition: async () => 7 },
  documents: { status: async () => [] },
  projections: { status: () => [], following: () => ({ live: true, detail: 'thread running' }) },
  processes: { read: async () => [] },
};

const checksOf = async (needs: Partial<ReadinessDependencies>) => {
  const checks = await createReadiness({ ...well, ...needs })();
  return Object.fromEntries(
    checks.map(({ name, ready, detail }) => [name, `${ready ? 'ready' : 'not ready'}: ${detail}`]),
  );
};

describe('readiness', () => {
  it('tells of each store by name', async () => {
    assert.deepEqual(await checksOf({}), {
      'event-store': 'ready: at position 7',
      'read-store': 'ready: 0 read models',
      projections: 'ready: thread running',
      processes: 'ready: 0 processes',
    });
  });

  it('tells which store does not answer, and hides what is no answer for others', async () => {
    const checks = await checksOf({
      events: { lastPosition: () => Promise.reject(new UnavailableError('It is down.')) },
      documents: { status: () => Promise.reject(new Error('mongodb://user:secret@host')) },
    });
    assert.equal(checks['event-store'], 'not ready: It is down.');
    assert.equal(checks['read-store'], 'not ready: it failed');
    assert.equal(checks.projections, 'ready: thread running');
  });

  it('waits for a store that hangs no longer than the others’ answer may wait', async () => {
    const checks = await checksOf({ events: { lastPosition: () => new Promise(() => undefined) } });
    assert.equal(checks['event-store'], 'not ready: no answer in time');
    assert.equal(checks['read-store'], 'ready: 0 read models');
  });

  it('names the event at which a projection has stopped, and nothing of what it holds', async () => {
    const failure = { eventId: 'event-1', eventType: 'FlowRenamed', position: 12, message: 'a quoted text' };
    const stopped = { name: 'flows', state: 'stopped', failure } as ProjectionStatus;
    const checks = await checksOf({ projections: { ...well.projections, status: () => [stopped] } });
    const cause = 'flows at position 12 (event event-1, FlowRenamed)';
    assert.equal(checks.projections, `not ready: stopped: ${cause}; thread running`);
  });

  it('names the event at which a process has stopped, and nothing of what it holds', async () => {
    const failure = { eventId: 'event-1', eventType: 'FlowDeleted', position: 12, message: 'a quoted text' };
    const stopped = { name: 'follower', state: 'stopped', position: 3, failure } as const;
    const running = { name: 'other', state: 'running', position: 20, failure: null } as const;
    const checks = await checksOf({ processes: { read: async () => [stopped, running] } });
    assert.equal(checks.processes, 'not ready: stopped: follower at position 12 (event event-1, FlowDeleted)');
  });

  it('names the projections that have stopped', async () => {
    const stopped = { name: 'flows', state: 'stopped', failure: null } as ProjectionStatus;
    const checks = await checksOf({ projections: { ...well.projections, status: () => [stopped] } });
    assert.equal(checks.projections, 'not ready: stopped: flows; thread running');
  });
});
