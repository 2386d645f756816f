import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compileCache } from '#test/support/run/compile-cache.ts';
import { endWithRun } from '#test/support/run/end-with-run.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { type ToolExit, toolExit } from '#test/support/service/events-tool.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { poll, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const tool = join(import.meta.dirname, '../../src/cli/replay.ts');

interface Resource {
  readonly id: string;
  readonly name: string;
}

describe('a service with READ_ONLY=true', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let service: ServiceInProcess;
  let past: ServiceInProcess;
  let projectId: string;
  let flow: Resource;
  let laterFlow: Resource;
  let key: { readonly id: string; readonly key: string };
  let position: number;
  const inFolder = (name: string) => join(folder.path, name);

  function startPast(dataDir: string): Promise<ServiceInProcess> {
    const EVENT_STORE_URL = `sqlite:${inFolder('data/events.db')}`;
    return composeService({ dataDir, environment: { READ_ONLY: 'true', EVENT_STORE_URL, LOG_LEVEL: 'info' } });
  }

  function replay(...args: ReadonlyArray<string>): Promise<ToolExit> {
    const environment = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, DATA_DIR: inFolder('data') };
    const child = spawn(process.execPath, [tool, ...args], { env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
    endWithRun(child);
    return toolExit(child);
  }

  before(async () => {
    folder = temporaryFolder();
    service = await composeService({ dataDir: inFolder('data') });
    const { client } = service;
    projectId = (await client.post<Resource>('/v1/projects', { name: 'Past' })).body.id;
    const flows = `/v1/projects/${projectId}/flows`;
    flow = (await client.post<Resource>(flows, { name: 'Before', flowSchema: {} })).body;
    key = (await client.post<typeof key>(`/v1/projects/${projectId}/keys`, { name: 'K', keyType: 'project' })).body;
    const renamed = await client.patch(`/v1/flows/${flow.id}`, { name: 'Then' });
    position = Number(renamed.headers['switchyard-position']);
    await client.patch(`/v1/flows/${flow.id}`, { name: 'Now' });
    laterFlow = (await client.post<Resource>(flows, { name: 'Later', flowSchema: {} })).body;
    const made = await replay('--until', String(position), '--into', inFolder('past'));
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, new RegExp(`^replayed \\d+ events, as of \\S+Z \\(position ${position}\\)\n$`));
    past = await startPast(inFolder('past'));
  });

  after(async () => {
    await past?.stop();
    await service?.stop();
    folder.remove();
  });

  it('answers a flow in its past state beside the service in operation', async () => {
    const then = await past.client.get<Resource>(`/v1/flows/${flow.id}`);
    assert.deepEqual([then.status, then.body.name], [200, 'Then']);
    assert.equal((await past.client.get(`/v1/flows/${laterFlow.id}`)).status, 404);
    const listed = await past.client.get<{ flows: ReadonlyArray<Resource> }>(`/v1/projects/${projectId}/flows`);
    assert.deepEqual(
      listed.body.flows.map(({ name }) => name),
      ['Then'],
    );
    assert.equal((await service.client.get<Resource>(`/v1/flows/${flow.id}`)).body.name, 'Now');
  });

  it('refuses commands, uploads, batches, calls of models and the live feed with 503, and stores nothing', async () => {
    const before = (await service.client.get(`/v1/flows/${flow.id}/history`)).body;
    const body = { messages: [{ role: 'user', content: 'Hello' }], model: 'sandbox' };
    const asked = [
      await past.client.patch(`/v1/flows/${flow.id}`, { name: 'Other' }),
      await past.client.post(`/v1/projects/${projectId}/flows`, { name: 'New', flowSchema: {} }),
      await past.client.post('/v1/batches', { input_file_id: 'file-cxxxxxxx', endpoint: '/v1/chat/completions' }),
      await past.client.post('/v1/files', {}),
      await past.client.post('/v1/chat/completions', body),
      await past.client.get('/v1/events'),
      await past.client.post('/v1/digests', {}),
    ];
    for (const { status, body: problem, headers } of asked) {
      assert.equal(status, 503, JSON.stringify(problem));
      assert.match(JSON.stringify(problem), /This service only answers reads, as of \S+Z \(position \d+\)/);
      assert.equal(headers['retry-after'], '3600');
    }
    assert.deepEqual((await service.client.get(`/v1/flows/${flow.id}/history`)).body, before);
  });

  it('reports its moment at its start and in /readyz', async () => {
    const line = new RegExp(`"mode":"read only as of \\S+Z \\(position ${position}\\)"`);
    // The service listens before it writes the line.
    await eventually(() => line.test(past.log), 'the line of the start');
    const { status, body } = await past.client.as(null).get('/readyz');
    assert.equal(status, 200);
    assert.match(JSON.stringify(body), /read only as of/);
  });

  it('checks keys against the present log', async () => {
    const reader = past.client.as(key.key);
    assert.equal((await reader.get(`/v1/flows/${flow.id}`)).status, 200);
    assert.equal((await past.client.as('sy_live_unknown').get(`/v1/flows/${flow.id}`)).status, 401);
    const keys = `/v1/projects/${projectId}/keys`;
    const later = (await service.client.post<typeof key>(keys, { name: 'L', keyType: 'project' })).body;
    const read = async () => (await past.client.as(later.key).get(`/v1/flows/${flow.id}`)).status === 200;
    assert.ok(await poll(read, 30_000));
    await service.client.remove(`/v1/keys/${key.id}`);
    assert.ok(await poll(async () => (await reader.get(`/v1/flows/${flow.id}`)).status === 401, 30_000));
  });

  it(`accepts a time as its moment ${long}`, async () => {
    const { body } = await service.client.get<{ events: ReadonlyArray<{ type: string; time: string }> }>(
      `/v1/flows/${flow.id}/history`,
    );
    const created = body.events[0]?.time ?? '';
    const made = await replay('--until', created, '--into', inFolder('created'));
    assert.equal(made.code, 0, made.stderr);
    const other = await startPast(inFolder('created'));
    try {
      assert.equal((await other.client.get<Resource>(`/v1/flows/${flow.id}`)).body.name, 'Before');
    } finally {
      await other.stop();
    }
  });

  it('refuses a folder that is not a replay, and a folder of a replay without READ_ONLY=true', async () => {
    await assert.rejects(startPast(inFolder('none')), /READ_ONLY=true needs a folder that was made by npm run replay/);
    await assert.rejects(
      composeService({ dataDir: inFolder('past') }),
      /shows a past moment .*: start it with READ_ONLY=true/,
    );
  });

  it(`refuses a replay that would overwrite files, and a moment that the log does not have ${long}`, async () => {
    const full = await replay('--until', String(position), '--into', inFolder('past'));
    assert.deepEqual([full.code, /is not empty/.test(full.stderr)], [1, true]);
    const day = await replay('--until', '2026-01-05', '--into', inFolder('other'));
    assert.deepEqual([day.code, /The log has no event up to 2026-01-05/.test(day.stderr)], [1, true]);
    const nonsense = await replay('--until', 'yesterday', '--into', inFolder('other'));
    assert.deepEqual(
      [nonsense.code, /must be a position, a day, or an RFC 3339 time/.test(nonsense.stderr)],
      [1, true],
    );
  });
});
