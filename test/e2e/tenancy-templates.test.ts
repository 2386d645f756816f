import assert from 'node:assert/strict';
import { payload } from '#test/support/inputs/template-payload.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { expectProblem, expectStatus, unknownId } from './support/expect.ts';
import { runningService } from './support/running-service.ts';
import { type KeyType, newHolder, newOrganization, newProject } from './support/tenants.ts';

type Named = { readonly id: string };
type Templates = { templates: Named[] };

interface Place {
  readonly templateId: string;
  readonly versionId: string;
}

/** An operation that names a template or a version; one that publishes or archives comes after those that need it not. */
const rows: ReadonlyArray<{
  readonly line: string;
  readonly scope: string;
  readonly success: number;
  readonly call: (client: Client, place: Place) => Promise<Reply<unknown>>;
}> = [
  {
    line: 'GET template',
    scope: 'templates:read',
    success: 200,
    call: (c, p) => c.get(`/v1/templates/${p.templateId}`),
  },
  {
    line: 'PATCH template',
    scope: 'templates:write',
    success: 200,
    call: (c, p) => c.patch(`/v1/templates/${p.templateId}`, { name: 'New' }),
  },
  {
    line: 'GET versions',
    scope: 'templates:read',
    success: 200,
    call: (c, p) => c.get(`/v1/templates/${p.templateId}/versions`),
  },
  {
    line: 'POST versions',
    scope: 'templates:write',
    success: 201,
    call: (c, p) => c.post(`/v1/templates/${p.templateId}/versions`, { payload: payload() }),
  },
  {
    line: 'GET version',
    scope: 'templates:read',
    success: 200,
    call: (c, p) => c.get(`/v1/template-versions/${p.versionId}`),
  },
  {
    line: 'POST publish',
    scope: 'templates:write',
    success: 200,
    call: (c, p) => c.post(`/v1/template-versions/${p.versionId}/publish`),
  },
  {
    line: 'POST archive',
    scope: 'templates:write',
    success: 200,
    call: (c, p) => c.post(`/v1/templates/${p.templateId}/archive`),
  },
];

describeOnEngines('tenancy: who may do what with templates', (engines) => {
  const running = runningService(engines);
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
  const furnish = async (client: Client): Promise<Place> => {
    const template = expectStatus(await client.post<Named>('/v1/templates', { name: 'T' }), 201);
    const body = { payload: payload() };
    const version = expectStatus(await client.post<Named>(`/v1/templates/${template.id}/versions`, body), 201);
    return { templateId: template.id, versionId: version.id };
  };
  const readAll = async ({ templateId, versionId }: Place) => {
    const paths = [`templates/${templateId}`, `templates/${templateId}/versions`, `template-versions/${versionId}`];
    return Promise.all(paths.map(async (path) => expectStatus(await admin.get(`/v1/${path}`), 200)));
  };
  const listed = async (client: Client) =>
    expectStatus(await client.get<Templates>('/v1/templates'), 200).templates.map(({ id }) => id);

  it('a partner may everything with its own, from any of its projects; so may an admin', async () => {
    const maker = await holder(home.partner, 'partner');
    const able = [maker, await holder(home.sibling, 'partner'), await holder(home.company, 'admin')];
    for (const client of able) {
      const place = await furnish(maker);
      assert.ok((await listed(client)).includes(place.templateId));
      for (const { line, success, call } of rows) {
        const reply = await call(client, place);
        assert.equal(reply.status, success, `${line}: ${reply.text}`);
      }
    }
  });

  it('anyone else finds none, not even a key of the same organization, and changes nothing', async () => {
    const place = await furnish(await holder(home.partner, 'partner'));
    const before = await readAll(place);
    const strangers = {
      'another partner': await holder(home.otherPartner, 'partner'),
      'another partner without a scope': await holder(home.otherPartner, 'partner', []),
      "the partner's own organization key": await holder(home.partner, 'organization'),
      "the partner's own project key": await holder(home.partner, 'project'),
      'an organization key elsewhere': await holder(home.company, 'organization'),
      'a project key elsewhere': await holder(home.company, 'project'),
    };
    for (const [name, client] of Object.entries(strangers)) {
      for (const { line, call } of rows) {
        const reply = await call(client, place);
        assert.equal(reply.status, 404, `${name}: ${line} → ${reply.text}`);
        const unknown = await call(client, { templateId: unknownId, versionId: unknownId });
        const alike = ({ text }: Reply<unknown>) =>
          text.replaceAll(/c[0-9a-z]{15,}/g, 'ID').replace(/"requestId":"[^"]*"/, '');
        assert.equal(alike(reply), alike(unknown), `${name}: ${line}`);
      }
    }
    assert.deepEqual(await readAll(place), before);
    assert.ok(!(await listed(strangers['another partner'])).includes(place.templateId));
  });

  it('lists show the own organization’s alone, an admin every one’s', async () => {
    const [one, other] = [await holder(home.partner, 'partner'), await holder(home.otherPartner, 'partner')];
    const [mine, theirs] = [(await furnish(one)).templateId, (await furnish(other)).templateId];
    const lists = { one: await listed(one), other: await listed(other), admin: await listed(admin) };
    assert.ok(lists.one.includes(mine) && !lists.one.includes(theirs));
    assert.ok(lists.other.includes(theirs) && !lists.other.includes(mine));
    assert.ok(lists.admin.includes(mine) && lists.admin.includes(theirs));
  });

  it('what names no template is 403 to a key that can have no scope for them', async () => {
    for (const keyType of ['organization', 'project'] as const) {
      const client = await holder(home.partner, keyType);
      expectProblem(await client.get('/v1/templates'), 403, 'key-type-not-allowed');
      expectProblem(await client.post('/v1/templates', { name: 1 }), 403, 'key-type-not-allowed');
    }
  });

  it('the right partner without the scope: 403, before the body is looked at', async () => {
    const place = await furnish(await holder(home.partner, 'partner'));
    const [reader, writer] = [
      await holder(home.partner, 'partner', ['templates:read']),
      await holder(home.partner, 'partner', ['templates:write']),
    ];
    for (const { line, scope, success, call } of rows) {
      const [able, unable] = scope === 'templates:read' ? [reader, writer] : [writer, reader];
      expectProblem(await call(unable, place), 403, 'scope-required');
      assert.equal((await call(able, place)).status, success, line);
    }
    expectProblem(await reader.post('/v1/templates', { name: 1 }), 403, 'scope-required');
    expectProblem(await writer.get('/v1/templates'), 403, 'scope-required');
  });
});
