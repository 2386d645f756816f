import assert from 'node:assert/strict';
import { payload } from '#test/support/inputs/template-payload.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { expectProblem, expectStatus, unknownId } from './support/expect.ts';
import { serviceOfProject } from './support/running-service.ts';
import { type KeyType, newHolder, newOrganization, newProject } from './support/tenants.ts';

type Named = { readonly id: string };
type Templates = { templates: Named[] };

interface TemplateIds {
  readonly templateId: string;
  readonly versionId: string;
}

/** The operations that name a template or a version. Those that publish or archive come last. */
const rows: ReadonlyArray<{
  readonly operation: string;
  readonly scope: string;
  readonly success: number;
  readonly call: (client: Client, template: TemplateIds) => Promise<Reply<unknown>>;
}> = [
  {
    operation: 'GET template',
    scope: 'templates:read',
    success: 200,
    call: (c, p) => c.get(`/v1/templates/${p.templateId}`),
  },
  {
    operation: 'PATCH template',
    scope: 'templates:write',
    success: 200,
    call: (c, p) => c.patch(`/v1/templates/${p.templateId}`, { name: 'New' }),
  },
  {
    operation: 'GET versions',
    scope: 'templates:read',
    success: 200,
    call: (c, p) => c.get(`/v1/templates/${p.templateId}/versions`),
  },
  {
    operation: 'POST versions',
    scope: 'templates:write',
    success: 201,
    call: (c, p) => c.post(`/v1/templates/${p.templateId}/versions`, { payload: payload() }),
  },
  {
    operation: 'GET version',
    scope: 'templates:read',
    success: 200,
    call: (c, p) => c.get(`/v1/template-versions/${p.versionId}`),
  },
  {
    operation: 'POST publish',
    scope: 'templates:write',
    success: 200,
    call: (c, p) => c.post(`/v1/template-versions/${p.versionId}/publish`),
  },
  {
    operation: 'POST archive',
    scope: 'templates:write',
    success: 200,
    call: (c, p) => c.post(`/v1/templates/${p.templateId}/archive`),
  },
];

describeOnEngines('tenancy of templates', (engines) => {
  const running = serviceOfProject(engines);
  let admin: Client;
  const home = { partner: '', sibling: '', otherPartner: '', company: '' };

  before(async () => {
    admin = running.client;
    const partner = await newOrganization(admin, true);
    home.partner = await newProject(admin, partner);
    home.sibling = await newProject(admin, partner);
    home.otherPartner = await newProject(admin, await newOrganization(admin, true));
    home.company = await newProject(admin, await newOrganization(admin, false));
  });

  const holder = (projectId: string, keyType: KeyType, scopes?: ReadonlyArray<string>) =>
    newHolder(admin, projectId, keyType, scopes);
  const createResources = async (client: Client): Promise<TemplateIds> => {
    const template = expectStatus(await client.post<Named>('/v1/templates', { name: 'T' }), 201);
    const body = { payload: payload() };
    const version = expectStatus(await client.post<Named>(`/v1/templates/${template.id}/versions`, body), 201);
    return { templateId: template.id, versionId: version.id };
  };
  const readAll = async ({ templateId, versionId }: TemplateIds) => {
    const paths = [`templates/${templateId}`, `templates/${templateId}/versions`, `template-versions/${versionId}`];
    return Promise.all(paths.map(async (path) => expectStatus(await admin.get(`/v1/${path}`), 200)));
  };
  const listed = async (client: Client) =>
    expectStatus(await client.get<Templates>('/v1/templates'), 200).templates.map(({ id }) => id);

  it('lets a partner do everything with its templates from any of its projects, and an admin, too', async () => {
    const maker = await holder(home.partner, 'partner');
    const able = [maker, await holder(home.sibling, 'partner'), await holder(home.company, 'admin')];
    for (const client of able) {
      const template = await createResources(maker);
      assert.ok((await listed(client)).includes(template.templateId));
      for (const { operation, success, call } of rows) {
        const reply = await call(client, template);
        assert.equal(reply.status, success, `${operation}: ${reply.text}`);
      }
    }
  });

  it('conceals templates from all other keys, even of the same organization, and changes nothing for them', async () => {
    const template = await createResources(await holder(home.partner, 'partner'));
    const before = await readAll(template);
    const strangers = {
      'another partner': await holder(home.otherPartner, 'partner'),
      'another partner without a scope': await holder(home.otherPartner, 'partner', []),
      "the partner's own organization key": await holder(home.partner, 'organization'),
      "the partner's own project key": await holder(home.partner, 'project'),
      'an organization key elsewhere': await holder(home.company, 'organization'),
      'a project key elsewhere': await holder(home.company, 'project'),
    };
    for (const [name, client] of Object.entries(strangers)) {
      for (const { operation, call } of rows) {
        const reply = await call(client, template);
        assert.equal(reply.status, 404, `${name}: ${operation} → ${reply.text}`);
        const unknown = await call(client, { templateId: unknownId, versionId: unknownId });
        const withoutIds = ({ text }: Reply<unknown>) =>
          text.replaceAll(/c[0-9a-z]{15,}/g, 'ID').replace(/"requestId":"[^"]*"/, '');
        assert.equal(withoutIds(reply), withoutIds(unknown), `${name}: ${operation}`);
      }
    }
    assert.deepEqual(await readAll(template), before);
    assert.ok(!(await listed(strangers['another partner'])).includes(template.templateId));
  });

  it('lists only an organization’s own templates, and all templates for an admin', async () => {
    const [one, other] = [await holder(home.partner, 'partner'), await holder(home.otherPartner, 'partner')];
    const [mine, theirs] = [(await createResources(one)).templateId, (await createResources(other)).templateId];
    const lists = { one: await listed(one), other: await listed(other), admin: await listed(admin) };
    assert.ok(lists.one.includes(mine) && !lists.one.includes(theirs));
    assert.ok(lists.other.includes(theirs) && !lists.other.includes(mine));
    assert.ok(lists.admin.includes(mine) && lists.admin.includes(theirs));
  });

  it('refuses requests that name no template with 403 to keys whose type has no scope for templates', async () => {
    for (const keyType of ['organization', 'project'] as const) {
      const client = await holder(home.partner, keyType);
      expectProblem(await client.get('/v1/templates'), 403, 'key-type-not-allowed');
      expectProblem(await client.post('/v1/templates', { name: 1 }), 403, 'key-type-not-allowed');
    }
  });

  it('refuses the right partner without the scope with 403, before it reads the body', async () => {
    const template = await createResources(await holder(home.partner, 'partner'));
    const [reader, writer] = [
      await holder(home.partner, 'partner', ['templates:read']),
      await holder(home.partner, 'partner', ['templates:write']),
    ];
    for (const { operation, scope, success, call } of rows) {
      const [able, unable] = scope === 'templates:read' ? [reader, writer] : [writer, reader];
      expectProblem(await call(unable, template), 403, 'scope-required');
      assert.equal((await call(able, template)).status, success, operation);
    }
    expectProblem(await reader.post('/v1/templates', { name: 1 }), 403, 'scope-required');
    expectProblem(await writer.get('/v1/templates'), 403, 'scope-required');
  });
});
