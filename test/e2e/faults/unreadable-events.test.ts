import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { defaultStreamPrefix } from '#app/store-config.ts';
import type { ProcessStatus } from '#application/queries/process-status.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import type { ProjectionStatus, UnknownEventType } from '#read-store/read-store.ts';
import { mustAppend } from '#test/contract/event-store.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

interface Statuses {
  readonly projections: ReadonlyArray<ProjectionStatus>;
  readonly unknownEvents: ReadonlyArray<UnknownEventType>;
}

interface Engine {
  /** Marks the run of the suite on this engine: what reads events is the same on both. */
  readonly mark: string;
  readonly environment: (folder: TemporaryFolder) => Promise<Record<string, string>>;
  readonly open: (folder: TemporaryFolder) => Promise<EventStore>;
  readonly dispose: () => Promise<void>;
}

/**
 * In the order of the projections. The audit lists events of every kind, so it stops before a gap instead of hiding
 * it.
 */
const stoppedReadModels = ['flows', 'phone-numbers', 'audit', 'activity', 'flow-figures'];

/** Longer than any answer takes on a busy machine. */
const readYourWritesTimeoutMs = 20_000;

let double: EventStoreDbDouble | null = null;
const log = pino({ level: 'silent' });

const engines: Readonly<Record<string, Engine>> = {
  SQLite: {
    mark: '',
    environment: async () => ({}),
    open: (folder) => openSqliteEventStore({ file: join(folder.path, 'events.db') }),
    dispose: async () => undefined,
  },
  EventStoreDB: {
    mark: ` ${long}`,
    environment: async () => {
      double = await EventStoreDbDouble.start();
      return { EVENT_STORE_URL: double.url };
    },
    open: async () => openEventStoreDbEventStore({ url: double?.url ?? '', streamPrefix: defaultStreamPrefix, log }),
    dispose: async () => double?.stop(),
  },
};

for (const [name, engine] of Object.entries(engines)) {
  describe(`events that this release cannot read, on ${name}${engine.mark}`, function () {
    this.timeout(180_000);
    let folder: TemporaryFolder;
    let service: ServiceInProcess;
    let environment: Record<string, string>;
    let flowId: string;
    let unreadable: string;
    let project: string;

    before(async () => {
      folder = temporaryFolder();
      environment = {
        ...(await engine.environment(folder)),
        READ_YOUR_WRITES_TIMEOUT_MS: String(readYourWritesTimeoutMs),
      };
      service = await composeService({ dataDir: folder.path, environment });
      project = String((await service.client.get('/v1/me')).body.projectId);
      const flow = await service.client.post(`/v1/projects/${project}/flows`, { name: 'one', flowSchema: {} });
      flowId = String(flow.body.id);
      await service.stop();
      unreadable = await appendUnreadable(`flow-${flowId}`);
      service = await composeService({ dataDir: folder.path, environment }, 'listening');
    });

    after(async () => {
      await service.stop();
      await engine.dispose();
      folder.remove();
    });

    /**
     * Appends events of a newer release: a new version of a known type and a new type. Appends one that is not JSON,
     * too.
     */
    async function appendUnreadable(stream: string): Promise<string> {
      const store = await engine.open(folder);
      try {
        const [first] = await readEvents(store, stream, 0, 1);
        const head = (await readEvents(store, stream, 0)).length - 1;
        const metadata = JSON.stringify({ ...first?.metadata, schemaVersion: 9 });
        const id = randomUUID();
        await mustAppend(store, stream, head, [
          { id, type: 'FlowRenamed', data: '{}', metadata },
          { id: randomUUID(), type: 'FlowBlessed', data: '{}', metadata },
        ]);
        await mustAppend(store, 'phoneNumber-cbroken00', -1, [
          { id: randomUUID(), type: 'PhoneNumberCreated', data: '{', metadata: '' },
        ]);
        return id;
      } finally {
        await store.close();
      }
    }

    const statuses = async () => (await service.client.get('/v1/projections')).body as unknown as Statuses;
    const statusOf = async (projection: string) =>
      (await statuses()).projections.find((status) => status.name === projection);
    const failureOf = async (projection: string) => {
      const failure = (await statusOf(projection))?.failure;
      if (failure === undefined || failure === null) throw new Error(`${projection} has not stopped`);
      return failure;
    };

    it('stops only the read models that handle an unreadable event, which report its position', async () => {
      await eventually(async () => {
        const states = await Promise.all(stoppedReadModels.map(statusOf));
        return states.every((status) => status?.state === 'stopped');
      }, 'all of them have stopped');
      const stopped = (await statuses()).projections.filter(({ state }) => state === 'stopped');
      assert.deepEqual(
        stopped.map(({ name: projection }) => projection),
        stoppedReadModels,
      );
      const failure = await failureOf('flows');
      assert.deepEqual(await failureOf('audit'), failure);
      assert.equal(failure.eventId, unreadable);
      assert.ok(failure.position > 0);
      assert.match(failure.message, /schema version 9; this release knows 1 to 1/);
      assert.match((await failureOf('phone-numbers')).message, /it is not JSON/);

      const ready = await fetch(`${service.url}/readyz`);
      assert.equal(ready.status, 503);
      const place = `flows at position ${failure.position} (event ${unreadable}, FlowRenamed)`;
      assert.ok((await ready.text()).includes(place));
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      const labels = `kind="projection",name="flows",event_id="${unreadable}"`;
      assert.ok(metrics.includes(`switchyard_stopped_at_position{${labels}} ${failure.position}`));
      const line = service.log.split('\n').find((each) => each.includes('A projection has stopped'));
      assert.ok(line?.includes(unreadable) && line.includes(String(failure.position)));
    });

    const processes = async () =>
      (await service.client.get<{ processes: ReadonlyArray<ProcessStatus> }>('/v1/processes')).body.processes;
    /** Waits for its state, which is stored after the line of the log is written. */
    const stoppedProcess = () =>
      eventually(async () => {
        const stopped = (await processes()).filter(({ state }) => state === 'stopped');
        const [only] = stopped;
        if (only === undefined) return null;
        assert.deepEqual(
          stopped.map(({ name: process }) => process),
          ['detach-phone-numbers'],
        );
        if (only.failure === null) throw new Error('a stopped process names no failure');
        return { name: only.name, failure: only.failure, position: only.position };
      }, 'a process has stopped');
    const linesOfStops = () => service.log.split('\n').filter((line) => line.includes('A process has stopped'));

    it('stops only the process that handles an unreadable event, which reports its position', async () => {
      const { failure, position } = await stoppedProcess();
      assert.ok(position < failure.position);
      assert.equal(failure.eventType, 'PhoneNumberCreated');
      assert.match(failure.message, /it is not JSON/);
      assert.equal(failure.eventId, (await failureOf('phone-numbers')).eventId);

      const ready = await fetch(`${service.url}/readyz`);
      assert.equal(ready.status, 503);
      const place = `detach-phone-numbers at position ${failure.position} (event ${failure.eventId}, PhoneNumberCreated)`;
      assert.ok((await ready.text()).includes(place));
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      const labels = `kind="process",name="detach-phone-numbers",event_id="${failure.eventId}"`;
      assert.ok(metrics.includes(`switchyard_stopped_at_position{${labels}} ${failure.position}`));
      await eventually(() => linesOfStops().length === 1, 'the log has the line');
      assert.ok(linesOfStops()[0]?.includes(failure.eventId));
    });

    it('retries the event of a stopped process on request, and skips it on request', async () => {
      const { name: process, failure } = await stoppedProcess();
      expectStatus(await service.client.post(`/v1/processes/${process}/retry`, {}), 200);
      await eventually(() => linesOfStops().length === 2, 'it has stopped there again');
      assert.deepEqual((await stoppedProcess()).failure, failure);
      const skip = () => service.client.post(`/v1/processes/${process}/skip`, { eventId: failure.eventId });
      await eventually(async () => (await skip()).status === 200, 'its event is skipped');
      await eventually(async () => {
        const status = (await processes()).find((each) => each.name === process);
        return status?.state === 'running' && status.position >= failure.position;
      }, 'it is past the event');
    });

    it('passes and counts events of unknown types', async () => {
      await eventually(async () => (await statuses()).unknownEvents.length === 1, 'it was counted');
      const [counted] = (await statuses()).unknownEvents;
      assert.deepEqual([counted?.type, counted?.count], ['FlowBlessed', 1]);
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      assert.match(metrics, /switchyard_unknown_events\{type="FlowBlessed"\} 1/);
    });

    it('refuses a command on an unreadable stream with its position, and accepts commands on others', async () => {
      const refused = await service.client.patch(`/v1/flows/${flowId}`, { name: 'two' });
      expectProblem(refused, 503, 'stream-unreadable');
      assert.ok(String(refused.body.detail).includes(unreadable));
      assert.ok(refused.headers['retry-after']);
      expectStatus(await service.client.post('/v1/projects', { name: 'another' }), 201);
    });

    it('shows a write immediately, without waiting for a stopped audit', async () => {
      assert.equal((await statusOf('audit'))?.state, 'stopped');
      const durations: number[] = [];
      for (let number = 0; number < 5; number += 1) {
        const began = performance.now();
        const made = await service.client.post('/v1/projects', { name: `project ${number}` });
        durations.push(performance.now() - began);
        expectStatus(await service.client.get(`/v1/projects/${made.body.id}`), 200);
      }
      // A write that waits for a stopped read model takes at least this limit.
      assert.ok(Math.min(...durations) < readYourWritesTimeoutMs, `the answers took ${durations.join(', ')} ms`);
    });

    /** Skips an event at which a read model stops. While a retry runs there is no failure to skip. */
    async function skip(projection: string, eventId: string): Promise<void> {
      await eventually(async () => {
        if ((await statusOf(projection))?.failure?.eventId !== eventId) return false;
        return (await service.client.post(`/v1/projections/${projection}/skip`, { eventId })).status === 200;
      }, `${projection} has stopped at the event`);
    }

    it('retries the event of a stopped read model on request, and skips it on request', async () => {
      expectStatus(await service.client.post('/v1/projections/flows/retry', {}), 200);
      await eventually(async () => (await statusOf('flows'))?.state === 'stopped', 'it has stopped there again');
      const { eventId: broken } = await failureOf('phone-numbers');
      await skip('flows', unreadable);
      await skip('flow-figures', unreadable);
      await skip('phone-numbers', broken);
      // The audit and the activity list both, so an operator accepts each gap in them.
      for (const projection of ['audit', 'activity']) {
        await skip(projection, unreadable);
        await skip(projection, broken);
      }
      await eventually(async () => (await statuses()).projections.every(({ state }) => state === 'running'), 'all run');
      await eventually(async () => (await fetch(`${service.url}/readyz`)).status === 200, 'it is ready');
      const made = await service.client.post(`/v1/projects/${project}/flows`, { name: 'three', flowSchema: {} });
      expectStatus(await service.client.get(`/v1/flows/${made.body.id}`), 200);
    });
  });
}
