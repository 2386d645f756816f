import assert from 'node:assert/strict';
import { expectProblem, expectStatus, unknownId } from '#test/e2e/support/expect.ts';
import { freshNumber, profileContents } from '#test/e2e/support/operations.ts';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import { newKey, newProject } from '#test/e2e/support/tenants.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { poll } from '#test/support/service/service-process.ts';

type Named = { readonly id: string; readonly name: string };
type Page = Readonly<Record<string, unknown>> & { readonly nextCursor?: string };

describeOnEngines('filters and order of lists over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  let client: Client;
  let projectId: string;

  before(async () => {
    client = running.client;
    projectId = await newProject(client);
  });

  const made = async (path: string, body: object) => expectStatus(await client.post<Named>(path, body), 201).id;
  const inProject = (kind: string, body: object) => made(`/v1/projects/${projectId}/${kind}`, body);
  /** Returns the ids of a list's items. */
  const listed = async (path: string, caller = client): Promise<ReadonlyArray<string>> => {
    const body = expectStatus(await caller.get<Page>(path), 200);
    const [items] = Object.values(body).filter(Array.isArray);
    return (items as ReadonlyArray<Named>).map(({ id }) => id);
  };

  it('lists only the resources with exactly the given name', async () => {
    const contents: Readonly<Record<string, object>> = {
      flows: { flowSchema: 1 },
      'phone-numbers': {},
      'agent-profiles': profileContents,
      keys: { keyType: 'project' },
    };
    for (const [kind, body] of Object.entries(contents)) {
      const create = (name: string) =>
        inProject(kind, { ...body, name, ...(kind === 'phone-numbers' && { number: freshNumber() }) });
      const [one, , two] = [await create('Größe 📏'), await create('größe 📏'), await create('Größe 📏')];
      const path = `/v1/projects/${projectId}/${kind}`;
      assert.deepEqual(await listed(`${path}?name=${encodeURIComponent('Größe 📏')}`), [one, two], kind);
      assert.deepEqual(await listed(`${path}?name=Gr`), [], kind);
      const first = expectStatus(await client.get<Page>(`${path}?limit=1&name=${encodeURIComponent('Größe 📏')}`), 200);
      const next = `${path}?name=${encodeURIComponent('Größe 📏')}&cursor=${first.nextCursor}`;
      assert.deepEqual(await listed(next), [two], kind);
    }
  });

  it('lists phone numbers by status and by flow, and flows by agent profile', async () => {
    const project = await newProject(client);
    const own = (kind: string, body: object) => made(`/v1/projects/${project}/${kind}`, body);
    const agentProfileId = await own('agent-profiles', profileContents);
    const flowId = await own('flows', { name: 'F', flowSchema: 1, agentProfileId });
    await own('flows', { name: 'F', flowSchema: 1 });
    const path = `/v1/projects/${project}/phone-numbers`;
    const pointed = await own('phone-numbers', { name: 'N', number: freshNumber(), flowId });
    const enabled = await own('phone-numbers', { name: 'N', number: freshNumber(), status: 'enabled' });
    assert.deepEqual(await listed(`${path}?flowId=${flowId}`), [pointed]);
    assert.deepEqual(await listed(`${path}?status=enabled`), [enabled]);
    assert.deepEqual(await listed(`/v1/projects/${project}/flows?agentProfileId=${agentProfileId}`), [flowId]);
    expectStatus(await client.patch(`/v1/phone-numbers/${pointed}`, { status: 'enabled' }), 200);
    assert.deepEqual(await listed(`${path}?status=enabled`), [pointed, enabled]);
    expectStatus(await client.patch(`/v1/phone-numbers/${pointed}/flow`, { flowId: null }), 200);
    assert.deepEqual(await listed(`${path}?flowId=${flowId}`), []);
  });

  it('lists webhook endpoints by status', async () => {
    const create = () => made('/v1/webhook-endpoints', { url: 'https://192.0.3.1/hooks', eventTypes: ['FlowCreated'] });
    const [enabled, disabled] = [await create(), await create()];
    expectStatus(await client.patch(`/v1/webhook-endpoints/${disabled}`, { status: 'disabled' }), 200);
    assert.deepEqual(await listed('/v1/webhook-endpoints?status=enabled'), [enabled]);
    assert.deepEqual(await listed('/v1/webhook-endpoints?status=disabled'), [disabled]);
    for (const id of [enabled, disabled]) expectStatus(await client.remove(`/v1/webhook-endpoints/${id}`), 200);
  });

  it('lists to each key the projects, templates and instances that it can access, by name and status', async () => {
    const home = expectStatus(await client.get<{ projectId: string }>('/v1/me'), 200).projectId;
    const templateId = await made('/v1/templates', { name: 'Practice for lists' });
    const payload = { flows: [{ key: 'a', name: 'A', flowType: 'simple', flowSchema: 1 }] };
    const versionId = await made(`/v1/templates/${templateId}/versions`, { payload });
    assert.ok((await listed('/v1/templates?status=draft')).includes(templateId));
    expectStatus(await client.post(`/v1/template-versions/${versionId}/publish`), 200);
    const instance = { templateVersionId: versionId, projectId: home, name: 'Weber for lists' };
    const instanceId = await made('/v1/instances', instance);
    await poll(async () => (await client.get(`/v1/instances/${instanceId}`)).body.status === 'active' || null, 20_000);
    const project = await made('/v1/projects', { name: 'Project for lists' });
    const stranger = await made('/v1/organizations', { name: 'Stranger', partner: true });
    const foreign = await newProject(client, stranger);
    for (const keyType of ['admin', 'partner'] as const) {
      const caller = client.as((await newKey(client, home, keyType)).key);
      const other = client.as((await newKey(client, foreign, keyType)).key);
      for (const [path, id] of [
        ['/v1/projects?name=Project%20for%20lists', project],
        ['/v1/templates?name=Practice%20for%20lists', templateId],
        ['/v1/instances?name=Weber%20for%20lists', instanceId],
      ] as const) {
        assert.deepEqual(await listed(path, caller), [id], `${keyType} ${path}`);
        if (keyType === 'partner') assert.deepEqual(await listed(path, other), [], `${keyType} ${path}`);
      }
      assert.ok((await listed('/v1/templates?status=published', caller)).includes(templateId));
      assert.ok((await listed('/v1/instances?status=active', caller)).includes(instanceId));
      assert.ok(!(await listed('/v1/instances?status=failed', caller)).includes(instanceId));
    }
    for (const keyType of ['organization', 'project'] as const) {
      const caller = client.as((await newKey(client, home, keyType)).key);
      assert.deepEqual(await listed('/v1/instances?status=active&limit=1', caller), [instanceId]);
      assert.deepEqual(
        await listed('/v1/projects?name=Project%20for%20lists', caller),
        keyType === 'project' ? [] : [project],
      );
    }
  });

  it('lists from the newest with sort=-createdAt, page by page', async () => {
    const project = await newProject(client);
    const path = `/v1/projects/${project}/flows`;
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push(await made(path, { name, flowSchema: 1 }));
    assert.deepEqual(await listed(`${path}?sort=createdAt`), ids);
    const seen: string[] = [];
    let next: string | undefined = `${path}?sort=-createdAt&limit=2`;
    while (next !== undefined) {
      seen.push(...(await listed(next)));
      const page: Reply<Page> = await client.get<Page>(next);
      next = /<([^>]+)>; rel="next"/.exec(page.headers.link ?? '')?.[1];
    }
    assert.deepEqual(seen, ids.toReversed());
    const versions = `/v1/flows/${ids[0]}/versions`;
    const added = [await made(versions, { flowSchema: 2 }), await made(versions, { flowSchema: 3, tag: 'three' })];
    assert.deepEqual((await listed(`${versions}?sort=-createdAt`)).slice(0, 2), added.toReversed());
    const then = `asOf=${new Date().toISOString()}`;
    const was = expectStatus(await client.get<Page>(`${versions}?sort=-createdAt&limit=2&${then}`), 200);
    const tags = (was.versions as ReadonlyArray<{ tag: string }>).map(({ tag }) => tag);
    assert.deepEqual(tags, ['three', 'v2']);
    assert.equal((await listed(`${versions}?sort=-createdAt&${then}&cursor=${was.nextCursor}`)).length, 1);
    const organizations = await listed('/v1/organizations');
    assert.deepEqual(await listed('/v1/organizations?sort=-createdAt'), organizations.toReversed());
  });

  it('refuses an unknown order, an impossible filter, and two filters at the same time with 422', async () => {
    const path = `/v1/projects/${projectId}/phone-numbers`;
    for (const [query, pointer] of [
      ['sort=name', '/sort'],
      ['status=lost', '/status'],
      ['flowId=x', '/flowId'],
      ['name=', '/name'],
      ['name=a&status=enabled', '/status'],
    ] as const)
      expectProblem(await client.get(`${path}?${query}`), 422, 'invalid-input', [pointer]);
    expectStatus(await client.get(`${path}?status=enabled&unknown=1`), 200);
    expectProblem(await client.get(`/v1/projects/${unknownId}/flows?name=a`), 404, 'project-not-found');
  });
});
