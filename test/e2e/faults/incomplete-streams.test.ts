import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { rebuildProjection } from '#test/e2e/support/rebuild-projection.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { startEventsTool, toolExit } from '#test/support/service/events-tool.ts';
import {
  ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

describe('a log whose streams lack events', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  let service: ServiceProcess;
  let first: string;
  let second: string;

  before(async () => {
    folder = temporaryFolder();
    service = await startService({ dataDir: folder.path });
    const project = String((await service.client.get('/v1/me')).body.projectId);
    const flow = async (name: string) => {
      const made = await service.client.post(`/v1/projects/${project}/flows`, { name, flowSchema: {} });
      const id = String(expectStatus(made, 201).id);
      for (const renamed of [`${name} 2`, `${name} 3`])
        expectStatus(await service.client.patch(`/v1/flows/${id}`, { name: renamed }), 200);
      return id;
    };
    first = await flow('one');
    second = await flow('two');
    await restart(() => {
      remove(first, 'revision < 2');
      remove(second, 'revision = 1');
    });
  });
  after(async () => {
    await service.kill();
    folder.remove();
  });

  async function restart(meanwhile: () => void): Promise<void> {
    await service.stop();
    meanwhile();
    service = new ServiceProcess({ dataDir: folder.path });
    await service.announced();
  }

  function remove(flowId: string, condition: string): void {
    const database = new DatabaseSync(join(folder.path, 'events.db'));
    database.exec(`DELETE FROM events WHERE stream = 'flow-${flowId}' AND ${condition}`);
    database.close();
  }

  const incomplete = async () => {
    const reply = await service.client.get<{ projections: ReadonlyArray<ProjectionStatus> }>('/v1/projections');
    const found = expectStatus(reply, 200).projections.filter(({ incompleteStreams }) => incompleteStreams.count > 0);
    return Object.fromEntries(found.map(({ name, incompleteStreams }) => [name, incompleteStreams]));
  };
  const expected = () => ({
    count: 2,
    isExact: true,
    first: [
      { stream: `flow-${first}`, expectedRevision: 0, revision: 2 },
      { stream: `flow-${second}`, expectedRevision: 1, revision: 2 },
    ],
  });

  it('is named by events verify, which fails', async () => {
    const { code, stderr } = await toolExit(startEventsTool(['verify'], { DATA_DIR: folder.path }));
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`BROKEN: flow-${first} begins at revision 2, .*its first events are missing`));
    assert.match(stderr, new RegExp(`BROKEN: flow-${second} has revision 2, .*in place of 1`));
    assert.match(stderr, /2 BROKEN: the log was changed, lacks events/);
  });

  it('does not change read models that were built before', async () => {
    assert.deepEqual(await incomplete(), {});
    assert.equal(expectStatus(await service.client.get(`/v1/flows/${first}`), 200).name, 'one 3');
  });

  it('is named by a rebuild, in the status, the detail of readiness and the metrics, and the read model follows the log', async () => {
    await rebuildProjection(service.client, 'flows');
    assert.deepEqual(await incomplete(), { flows: expected() });
    expectProblem(await service.client.get(`/v1/flows/${first}`), 503, 'stream-unreadable');
    const ready = await fetch(`${service.url}/readyz`);
    assert.equal(ready.status, 200);
    const alarm = `ALARM: read models were built from streams that lack events: flow-${first}, flow-${second}`;
    assert.ok((await ready.text()).includes(alarm));
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(metrics, /switchyard_incomplete_streams\{projection="flows"\} 2/);
    assert.match(metrics, /switchyard_incomplete_streams\{projection="audit"\} 0/);
    const line = 'A read model was built from streams that lack events';
    await eventually(() => `${service.stdout}${service.stderr}`.includes(line), 'the log says it');
    const dashboard = await service.client.get<{ projections: ReadonlyArray<ProjectionStatus> }>(
      '/v1/dashboard/projections',
    );
    const shown = expectStatus(dashboard, 200).projections.find(({ name }) => name === 'flows');
    assert.deepEqual(shown?.incompleteStreams, expected());
  });

  it('is named after a restart too, until a rebuild finds no gap', async () => {
    await restart(() => undefined);
    assert.deepEqual(await incomplete(), { flows: expected() });
    await restart(() => {
      remove(first, 'TRUE');
      remove(second, 'TRUE');
    });
    await rebuildProjection(service.client, 'flows');
    assert.deepEqual(await incomplete(), {});
  });
});
