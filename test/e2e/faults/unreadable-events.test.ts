import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import type { EventStore } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import type { ProcessStatus } from '#process-engine/process-statuses.ts';
import type { UnknownEventType } from '#projection-engine/unknown-events.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { mustAppend } from '#test/contract/event-store.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/fakes/in-memory-event-store.ts';
import { readEvents } from '#test/support/harness/read-events.ts';
import {
  ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

interface Statuses {
  readonly projections: ReadonlyArray<ProjectionStatus>;
  readonly unknownEvents: ReadonlyArray<UnknownEventType>;
}

interface Engine {
  readonly environment: (folder: TemporaryFolder) => Promise<Record<string, string>>;
  readonly open: (folder: TemporaryFolder) => Promise<EventStore>;
  readonly dispose: () => Promise<void>;
}

let double: EventStoreDbDouble | null = null;
const log = pino({ level: 'silent' });

const engines: Readonly<Record<string, Engine>> = {
  SQLite: {
    environment: async () => ({}),
    open: (folder) => openSqliteEventStore({ file: join(folder.path, 'events.db') }),
    dispose: async () => undefined,
  },
  EventStoreDB: {
    environment: async () => {
      double = await EventStoreDbDouble.start();
      return { EVENT_STORE_URL: double.url };
    },
    open: async () => openEventStoreDbEventStore({ url: double?.url ?? '', log }),
    dispose: async () => double?.stop(),
  },
};

for (const [name, engine] of Object.entries(engines)) {
  describe(`events that this release cannot read, on ${name}`, function () {
    this.timeout(180_000);
    let folder: TemporaryFolder;
    let service: ServiceProcess;
    let environment: Record<string, string>;
    let flowId: string;
    let unreadable: string;
    let project: string;

    before(async () => {
      folder = temporaryFolder();
      environment = await engine.environment(folder);
      service = await startService({ dataDir: folder.path, environment });
      project = String((await service.client.get('/v1/me')).body.projectId);
      const flow = await service.client.post(`/v1/projects/${project}/flows`, { name: 'one', flowSchema: {} });
      flowId = String(flow.body.id);
      await service.stop();
      unreadable = await appendFromTheFuture(`flow-${flowId}`);
      service = new ServiceProcess({ dataDir: folder.path, environment });
      await service.announced();
    });

    after(async () => {
      await service.kill();
      await engine.dispose();
      folder.remove();
    });

    /** Stores what a newer release could: a new shape of a known event, one that is not JSON, and a new type. */
    async function appendFromTheFuture(stream: string): Promise<string> {
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

    it('They stop the read models that handle their types, which say where, and no other', async () => {
      await eventually('both have stopped', async () => {
        const states = await Promise.all(['flows', 'phone-numbers'].map(statusOf));
        return states.every((status) => status?.state === 'stopped');
      });
      const stopped = (await statuses()).projections.filter(({ state }) => state === 'stopped');
      assert.deepEqual(
        stopped.map(({ name: projection }) => projection),
        ['flows', 'phone-numbers'],
      );
      const failure = await failureOf('flows');
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
      const line = `${service.stdout}\n${service.stderr}`
        .split('\n')
        .find((each) => each.includes('A projection has stopped'));
      assert.ok(line?.includes(unreadable) && line.includes(String(failure.position)));
    });

    const processes = async () =>
      (await service.client.get<{ processes: ReadonlyArray<ProcessStatus> }>('/v1/processes')).body.processes;
    const stoppedProcess = async () => {
      const stopped = (await processes()).filter(({ state }) => state === 'stopped');
      assert.deepEqual(
        stopped.map(({ name: process }) => process),
        ['detach-phone-numbers'],
      );
      const [only] = stopped;
      if (only === undefined || only.failure === null) throw new Error('no process has stopped');
      return { name: only.name, failure: only.failure, position: only.position };
    };
    const linesOfStops = () =>
      `${service.stdout}\n${service.stderr}`.split('\n').filter((line) => line.includes('A process has stopped'));

    it('They stop the process that handles their type, which says where, and no other', async () => {
      await eventually('it has stopped', async () => (await processes()).some(({ state }) => state === 'stopped'));
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
      await eventually('the log has its line', () => linesOfStops().length === 1);
      assert.ok(linesOfStops()[0]?.includes(failure.eventId));
    });

    it('A stopped process tries its event again on a retry, and passes it on a skip', async () => {
      const { name: process, failure } = await stoppedProcess();
      expectStatus(await service.client.post(`/v1/processes/${process}/retry`, {}), 200);
      await eventually('it has stopped there again', () => linesOfStops().length === 2);
      assert.deepEqual((await stoppedProcess()).failure, failure);
      const skipped = await service.client.post(`/v1/processes/${process}/skip`, { eventId: failure.eventId });
      expectStatus(skipped, 200);
      await eventually('it is past the event', async () => {
        const status = (await processes()).find((each) => each.name === process);
        return status?.state === 'running' && status.position >= failure.position;
      });
    });

    it('Events of unknown types are passed and counted', async () => {
      await eventually('it was counted', async () => (await statuses()).unknownEvents.length === 1);
      const [counted] = (await statuses()).unknownEvents;
      assert.deepEqual([counted?.type, counted?.count], ['FlowBlessed', 1]);
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      assert.match(metrics, /switchyard_unknown_events\{type="FlowBlessed"\} 1/);
    });

    it('A command on their stream is refused with their place, and others are not', async () => {
      const refused = await service.client.patch(`/v1/flows/${flowId}`, { name: 'two' });
      expectProblem(refused, 503, 'stream-unreadable');
      assert.ok(String(refused.body.detail).includes(unreadable));
      assert.ok(refused.headers['retry-after']);
      expectStatus(await service.client.post('/v1/projects', { name: 'another' }), 201);
    });

    it('A stopped read model tries its event again when asked, and goes past it when told to skip it', async () => {
      expectStatus(await service.client.post('/v1/projections/flows/retry', {}), 200);
      await eventually('it has stopped there again', async () => (await statusOf('flows'))?.state === 'stopped');
      for (const projection of ['flows', 'phone-numbers']) {
        // The retry may still be under way: until it has stopped again there is no failure to skip.
        await eventually('the skip is taken', async () => {
          const eventId = (await statusOf(projection))?.failure?.eventId;
          if (eventId === undefined) return false;
          const skipped = await service.client.post(`/v1/projections/${projection}/skip`, { eventId });
          return skipped.status === 200;
        });
        await eventually('it runs', async () => (await statusOf(projection))?.state === 'running');
      }
      await eventually('it is ready', async () => (await fetch(`${service.url}/readyz`)).status === 200);
      const made = await service.client.post(`/v1/projects/${project}/flows`, { name: 'three', flowSchema: {} });
      expectStatus(await service.client.get(`/v1/flows/${made.body.id}`), 200);
    });
  });
}
