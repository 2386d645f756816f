import assert from 'node:assert/strict';
import type { ProcessStatus } from '#application/queries/process-status.ts';
import { characters, expectProblem, expectRecord, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { poll } from '#test/support/service/service-process.ts';

type Named = { readonly id: string; readonly organizationId: string };
type Projection = { name: string; state: string; position: number; rebuild: object | null; failure: object | null };

describeOnEngines('liveness, projects, organizations and operations over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  let client: Client;

  before(() => {
    client = running.client;
  });

  it('answers GET /healthz with status, service and version, without a key', async () => {
    const body = expectStatus(await client.as(null).get('/healthz'), 200);
    assert.match(String(body.version), /\d/);
    assert.deepEqual(body, { status: 'ok', service: 'service-api', version: body.version });
  });

  it('answers GET /v1/me with the four members of the key', async () => {
    const me = expectStatus(await client.get('/v1/me'), 200);
    assert.deepEqual(Object.keys(me).sort(), ['apiKeyId', 'keyType', 'organizationId', 'projectId']);
    assert.equal(me.keyType, 'admin');
    const project = expectStatus(await client.get(`/v1/projects/${me.projectId}`), 200);
    assert.equal(project.organizationId, me.organizationId);
  });

  it('creates a project in the key’s own organization or a named one, renames and returns it', async () => {
    const { organizationId } = expectStatus(await client.get('/v1/me'), 200);
    const created = await client.post<Named>('/v1/projects', { name: characters(200) });
    expectRecord(expectStatus(created, 201), { organizationId, name: characters(200) });
    const organization = expectStatus(
      await client.post<Named>('/v1/organizations', { name: 'O', partner: false }),
      201,
    );
    const elsewhere = await client.post<Named>('/v1/projects', { name: 'x', organizationId: organization.id });
    expectRecord(expectStatus(elsewhere, 201), { organizationId: organization.id, name: 'x' });

    const path = `/v1/projects/${created.body.id}`;
    const renamed = await client.patch(path, { name: 'y', organizationId: organization.id });
    expectRecord(expectStatus(renamed, 200), { ...created.body, name: 'y' });
    const read = await client.get(path);
    assert.deepEqual(expectStatus(read, 200), renamed.body);
    assert.equal(read.headers.etag, renamed.headers.etag);
    const same = await client.patch(path, {});
    assert.equal(same.headers.etag, renamed.headers.etag);

    for (const name of ['', characters(201), 1, null]) {
      expectProblem(await client.post('/v1/projects', { name }), 422, 'invalid-input', ['/name']);
      expectProblem(await client.patch(path, { name }), 422, 'invalid-input', ['/name']);
    }
    const unknown = { name: 'x', organizationId: unknownId };
    expectProblem(await client.post('/v1/projects', unknown), 404, 'organization-not-found');
    const wrong = { name: 'x', organizationId: 'x' };
    expectProblem(await client.post('/v1/projects', wrong), 422, 'invalid-input', ['/organizationId']);
    for (const id of [unknownId, 'x']) {
      expectProblem(await client.get(`/v1/projects/${id}`), 404, 'project-not-found');
      expectProblem(await client.patch(`/v1/projects/${id}`, { name: 1 }), 404, 'project-not-found');
    }
  });

  it('creates organizations with or without the role of a partner, and lists them', async () => {
    for (const partner of [true, false]) {
      const created = expectStatus(await client.post<Named>('/v1/organizations', { name: 'Org', partner }), 201);
      expectRecord(created, { name: 'Org', partner });
      const { organizations } = expectStatus(await client.get<{ organizations: Named[] }>('/v1/organizations'), 200);
      assert.deepEqual(organizations.at(-1), created);
    }
    expectProblem(await client.post('/v1/organizations', {}), 422, 'invalid-input', ['/name', '/partner']);
    const wrong = { name: '', partner: 'yes' };
    expectProblem(await client.post('/v1/organizations', wrong), 422, 'invalid-input', ['/name', '/partner']);
  });

  it('lists projections with their status, and rebuilds one while its documents stay readable', async () => {
    const listProjections = async () =>
      expectStatus(await client.get<{ projections: Projection[] }>('/v1/projections'), 200).projections;
    const names = (await listProjections()).map(({ name }) => name);
    for (const name of ['flows', 'flow-versions', 'phone-numbers', 'agent-profiles', 'projects', 'api-keys']) {
      assert.ok(names.includes(name), name);
    }
    const me = expectStatus(await client.get('/v1/me'), 200);
    const path = `/v1/projects/${me.projectId}/flows`;
    for (let index = 0; index < 20; index += 1) {
      expectStatus(await client.post(path, { name: 'F', flowSchema: index }), 201);
    }
    const before = expectStatus(await client.get(path), 200);
    const { position = 0 } = (await listProjections()).find(({ name }) => name === 'flows') ?? {};
    expectStatus(await client.post('/v1/projections/flows/rebuild'), 200);
    assert.deepEqual(expectStatus(await client.get(path), 200), before);
    const rebuilt = await poll(async () => {
      const flows = (await listProjections()).find(({ name }) => name === 'flows');
      return flows?.state === 'running' && flows.rebuild === null && flows.position > position;
    }, 60_000);
    assert.ok(rebuilt, 'the rebuild does not end');
    assert.deepEqual(expectStatus(await client.get(path), 200), before);
    expectProblem(await client.post('/v1/projections/flows/retry'), 409, 'projection-not-stopped');
    const event = { eventId: 'none' };
    expectProblem(await client.post('/v1/projections/flows/skip', event), 409, 'projection-not-stopped');
    expectProblem(await client.post('/v1/projections/flows/skip', {}), 422, 'invalid-input', ['/eventId']);
    for (const verb of ['rebuild', 'retry', 'skip']) {
      expectProblem(await client.post(`/v1/projections/none/${verb}`, event), 404, 'projection-not-found');
    }
  });

  it('lists processes with their status, and refuses retry and skip while they run', async () => {
    const { processes } = expectStatus(await client.get<{ processes: ProcessStatus[] }>('/v1/processes'), 200);
    const names = processes.map(({ name }) => name);
    assert.ok(names.includes('detach-phone-numbers') && names.includes('provision-instances'), names.join());
    assert.ok(processes.every(({ state, failure }) => state === 'running' && failure === null));
    const event = { eventId: 'none' };
    for (const verb of ['retry', 'skip']) {
      const running = await client.post(`/v1/processes/detach-phone-numbers/${verb}`, event);
      expectProblem(running, 409, 'process-not-stopped');
      expectProblem(await client.post(`/v1/processes/none/${verb}`, event), 404, 'process-not-found');
    }
    const incomplete = await client.post('/v1/processes/detach-phone-numbers/skip', {});
    expectProblem(incomplete, 422, 'invalid-input', ['/eventId']);
  });
});
