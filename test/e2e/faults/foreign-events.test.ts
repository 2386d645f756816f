import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { appendForeignEvents, foreignEvents } from '#test/support/eventstoredb/foreign-events.ts';
import { long } from '#test/support/run/long.ts';
import {
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

type Named = { readonly id: string };

describe('a service beside other applications on its EventStoreDB', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let double: EventStoreDbDouble;
  let service: ServiceProcess;

  beforeEach(async () => {
    folder = temporaryFolder();
    double = await EventStoreDbDouble.start();
  });
  afterEach(async () => {
    await service.kill();
    await double.kill();
    folder.remove();
  });

  const start = () => {
    const environment = { EVENT_STORE_URL: double.url, READ_YOUR_WRITES_TIMEOUT_MS: '20000' };
    return startService({ dataDir: folder.path, environment });
  };

  /** Appends events of every kind, some with types or stream names of the service. */
  const appendOthers = () => {
    appendForeignEvents(double, 100);
    for (const event of Object.values(foreignEvents)) {
      double.log.append('orders-1', 'any', [{ ...event, id: randomUUID(), type: 'FlowCreated' }]);
      double.log.append('flow-cwithoutprefix01', 'any', [{ ...event, id: randomUUID(), type: 'FlowCreated' }]);
    }
    // Another application has an event of its own in a stream with the service's prefix.
    double.log.append('switchyard.flow-cotherapplication1', 'any', [{ ...foreignEvents.json, id: randomUUID() }]);
  };

  /** Creates a flow that the next request reads, and checks that nothing has stopped. */
  const work = async () => {
    const { client, url } = service;
    const { projectId } = (await client.get('/v1/me')).body;
    const created = await client.post<Named>(`/v1/projects/${projectId}/flows`, { name: 'Shared', flowSchema: {} });
    const { id } = expectStatus(created, 201);
    expectStatus(await client.get(`/v1/flows/${id}`), 200);
    expectStatus(await client.post(`/v1/flows/${id}/versions`, { flowSchema: { step: 2 } }), 201);
    const ready = await fetch(`${url}/readyz`);
    assert.equal(ready.status, 200, await ready.text());
    for (const path of ['projections', 'processes']) {
      const { body } = await client.get(`/v1/${path}`);
      const states = (body[path] as ReadonlyArray<{ name: string; state: string }>).filter(
        ({ state }) => state === 'stopped',
      );
      assert.deepEqual(states, [], path);
    }
  };

  it(`works on an empty log, whatever they store while it runs ${long}`, async () => {
    service = await start();
    await work();
    appendOthers();
    await work();
  });

  it(`starts and works, whatever they have stored under other names before, or store while it runs ${long}`, async () => {
    appendForeignEvents(double, 100);
    double.log.append('orders-1', 'any', [{ ...foreignEvents.binary, id: randomUUID(), type: 'FlowCreated' }]);
    service = await start();
    await work();
    appendOthers();
    await work();
    await service.stop();
    service = await start();
    await work();
  });
});
