import assert from 'node:assert/strict';
import { long } from '#test/support/run/long.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { adminKey, poll } from '#test/support/service/service-process.ts';
import { expectProblem, expectRecord, expectStatus, unknownId } from './support/expect.ts';
import {
  createResources,
  type OperationCase,
  type ProjectResources,
  rows,
  rowsWithoutSubject,
} from './support/operations.ts';
import { runningService, serviceOfProject } from './support/running-service.ts';
import { type KeyType, type MadeKey, newHolder, newKey, newOrganization, newProject } from './support/tenants.ts';

type Named = { readonly id: string };

const keyTypes: ReadonlyArray<KeyType> = ['admin', 'partner', 'organization', 'project'];
const scopedResources = ['flows', 'phone-numbers', 'agent-profiles', 'projects', 'keys'];

/** Whether a key of this type can have the scope (docs/behaviour.md). */
function may(keyType: KeyType, scope: string): boolean {
  if (scope === 'operations:write') return keyType === 'admin';
  if (scope === 'projects:write') return keyType !== 'project';
  return true;
}

describeOnEngines('tenancy', (engines) => {
  const running = serviceOfProject(engines);
  let admin: Client;
  const home = { partner: '', sibling: '', company: '', companySibling: '', otherCompany: '', otherPartner: '' };

  before(async () => {
    admin = running.client;
    const [partner, company] = [await newOrganization(admin, true), await newOrganization(admin, false)];
    home.partner = await newProject(admin, partner);
    home.sibling = await newProject(admin, partner);
    home.company = await newProject(admin, company);
    home.companySibling = await newProject(admin, company);
    home.otherCompany = await newProject(admin, await newOrganization(admin, false));
    home.otherPartner = await newProject(admin, await newOrganization(admin, true));
  });

  const holder = (projectId: string, keyType: KeyType, scopes?: ReadonlyArray<string>) =>
    newHolder(admin, projectId, keyType, scopes);

  describe('accessible resources', () => {
    for (const keyType of keyTypes) {
      it(`allows a key of type ${keyType} what its row in the table allows`, async () => {
        const projectId = keyType === 'partner' ? home.partner : home.company;
        const client = await holder(keyType === 'admin' ? home.otherCompany : projectId, keyType);
        const resources = await createResources(admin, projectId);
        for (const row of [...rows, ...rowsWithoutSubject]) {
          const reply = await row.call(client, resources);
          if (may(keyType, row.scope)) assert.equal(reply.status, row.success, `${row.name}: ${reply.text}`);
          else expectRefusal(reply, row, 403, 'key-type-not-allowed');
        }
      });
    }

    it('gives partner and organization keys access to all of their projects', async () => {
      for (const [client, projectId] of [
        [await holder(home.partner, 'partner'), home.sibling],
        [await holder(home.partner, 'organization'), home.sibling],
        [await holder(home.company, 'organization'), home.companySibling],
      ] as const) {
        const resources = await createResources(admin, projectId);
        for (const row of rows.filter(({ scope }) => scope !== 'operations:write')) {
          assert.equal((await row.call(client, resources)).status, row.success, row.name);
        }
      }
    });
  });

  describe('inaccessible resources', () => {
    it('answers 404 for every inaccessible resource, whatever the scopes, and changes nothing', async () => {
      const resources = await createResources(admin, home.company);
      const before = await readAll(admin, resources);
      const strangers = {
        'project of the same organization': await holder(home.companySibling, 'project'),
        'project of another': await holder(home.otherCompany, 'project'),
        'another organization': await holder(home.otherCompany, 'organization'),
        'another partner': await holder(home.otherPartner, 'partner'),
        'organization of a partner': await holder(home.partner, 'organization'),
        'no scope at all': await holder(home.otherCompany, 'organization', []),
      };
      for (const [name, client] of Object.entries(strangers)) {
        for (const row of rows) {
          const reply = await row.call(client, resources);
          assert.equal(reply.status, 404, `${name}: ${row.name} → ${reply.text}`);
          assert.match(String((reply.body as { code: string }).code), /-not-found$/);
        }
      }
      assert.deepEqual(await readAll(admin, resources), before);
    });

    it('answers the same for an inaccessible resource as for an unknown one', async () => {
      const { flowId } = await createResources(admin, home.company);
      const stranger = await holder(home.otherCompany, 'organization');
      const reply = async (id: string) => {
        const { status, text } = await stranger.get(`/v1/flows/${id}`, { 'x-request-id': 'same' });
        return { status, text: text.replaceAll(id, 'ID') };
      };
      assert.deepEqual(await reply(flowId), await reply(unknownId));
    });

    it('lists only accessible projects', async () => {
      const projectsOf = async (client: Client) =>
        expectStatus(await client.get<{ projects: Named[] }>('/v1/projects'), 200).projects.map(({ id }) => id);
      const company = await projectsOf(await holder(home.company, 'organization'));
      assert.ok(company.includes(home.company) && company.includes(home.companySibling));
      assert.ok(!company.includes(home.otherCompany) && !company.includes(home.partner));
      const partner = await projectsOf(await holder(home.partner, 'partner'));
      assert.ok(partner.includes(home.partner) && partner.includes(home.sibling) && !partner.includes(home.company));
      assert.deepEqual(await projectsOf(await holder(home.company, 'project')), [home.company]);
      const everything = await projectsOf(admin);
      for (const id of Object.values(home)) assert.ok(everything.includes(id));
    });

    it('refuses a flow, profile or organization of another tenant in a body', async () => {
      const [own, other] = [
        await createResources(admin, home.company),
        await createResources(admin, home.otherCompany),
      ];
      const client = await holder(home.company, 'organization');
      const named = { flowId: other.flowId };
      expectProblem(await client.patch(`/v1/phone-numbers/${own.phoneNumberId}/flow`, named), 404, 'flow-not-found');
      const change = { agentProfileId: other.agentProfileId };
      expectProblem(await client.patch(`/v1/flows/${own.flowId}`, change), 404, 'agent-profile-not-found');
      const organizationId = expectStatus(
        await admin.get<{ organizationId: string }>(`/v1/projects/${home.otherCompany}`),
        200,
      ).organizationId;
      for (const id of [organizationId, unknownId]) {
        const body = { name: 'P', organizationId: id };
        expectProblem(await client.post('/v1/projects', body), 404, 'organization-not-found');
      }
    });
  });

  describe('scopes', () => {
    it('refuses a key without the scope with 403, before it checks media type and body', async () => {
      const resources = await createResources(admin, home.partner);
      for (const row of [...rows, ...rowsWithoutSubject]) {
        const all = [...scopedResources.flatMap((name) => [`${name}:read`, `${name}:write`]), 'operations:write'];
        const client = await holder(
          home.partner,
          'admin',
          all.filter((scope) => scope !== row.scope),
        );
        expectRefusal(await row.call(client, resources), row, 403, 'scope-required');
      }
      const reader = await holder(home.partner, 'project', ['flows:read']);
      const flow = `/v1/flows/${resources.flowId}`;
      const bad = { method: 'PATCH', path: flow, headers: { 'content-type': 'text/plain' }, body: '{' } as const;
      expectProblem(await reader.send(bad), 403, 'scope-required');
      expectProblem(await reader.send({ ...bad, path: `/v1/flows/${unknownId}` }), 404, 'flow-not-found');
    });

    it('accepts a key with only the required scope', async () => {
      const resources = await createResources(admin, home.partner);
      for (const row of [...rows, ...rowsWithoutSubject]) {
        const client = await holder(home.partner, 'admin', [row.scope]);
        const reply = await row.call(client, resources);
        assert.equal(reply.status, row.success, `${row.name}: ${reply.text}`);
      }
    });

    it('requires no scope for /v1/me', async () => {
      const key = await newKey(admin, home.company, 'project', []);
      const { organizationId } = expectStatus(
        await admin.get<{ organizationId: string }>(`/v1/projects/${home.company}`),
        200,
      );
      const expected = { apiKeyId: key.id, projectId: home.company, organizationId, keyType: 'project' };
      assert.deepEqual(expectStatus(await admin.as(key.key).get('/v1/me'), 200), expected);
    });
  });

  describe('API keys', () => {
    it('creates keys of the types that the caller’s key type may give', async () => {
      const allowed: Record<KeyType, ReadonlyArray<KeyType>> = {
        admin: keyTypes,
        partner: ['partner', 'organization', 'project'],
        organization: ['organization', 'project'],
        project: ['project'],
      };
      for (const maker of keyTypes) {
        const client = await holder(home.partner, maker);
        for (const keyType of keyTypes) {
          const reply = await client.post<MadeKey>(`/v1/projects/${home.partner}/keys`, { name: 'K', keyType });
          if (!allowed[maker].includes(keyType)) expectProblem(reply, 403, 'key-type-not-allowed');
          else {
            const made = expectStatus(reply, 201);
            const me = expectStatus(await admin.as(made.key).get('/v1/me'), 200);
            assert.equal(me.keyType, keyType);
            assert.equal(me.apiKeyId, made.id);
          }
        }
      }
    });

    it('gives a new key by default the caller’s scopes that the key’s type can have, and never more', async () => {
      const path = `/v1/projects/${home.company}/keys`;
      const scopes = ['keys:write', 'flows:read', 'projects:write'];
      const client = await holder(home.company, 'organization', scopes);
      const made = expectStatus(await client.post<MadeKey>(path, { name: 'K', keyType: 'project' }), 201);
      assert.deepEqual(made.scopes.toSorted(), ['flows:read', 'keys:write']);
      const same = expectStatus(await client.post<MadeKey>(path, { name: 'K', keyType: 'organization' }), 201);
      assert.deepEqual(same.scopes.toSorted(), scopes.toSorted());
      const more = { name: 'K', keyType: 'project', scopes: ['flows:write'] };
      expectProblem(await client.post(path, more), 403, 'scope-required');
      const never = { name: 'K', keyType: 'project', scopes: ['operations:write'] };
      expectProblem(await admin.post(path, never), 422, 'invalid-input', ['/scopes/0']);
      const unknown = { name: 'K', keyType: 'project', scopes: ['flows:read', 'flows:fly'] };
      expectProblem(await admin.post(path, unknown), 422, 'invalid-input', ['/scopes/1']);
      expectProblem(await admin.post(path, { name: '', keyType: 'root' }), 422, 'invalid-input', ['/name', '/keyType']);
      const partner = { name: 'K', keyType: 'partner' };
      expectProblem(await admin.post(path, partner), 409, 'organization-not-partner');
    });

    it('shows a key’s secret once, and neither in lists nor in repeated answers', async () => {
      const path = `/v1/projects/${home.company}/keys`;
      const once = { 'idempotency-key': 'make-a-key' };
      const body = { name: 'Website', keyType: 'project', scopes: ['flows:read'] };
      const { key, ...made } = expectStatus(await admin.post<MadeKey & Record<string, unknown>>(path, body, once), 201);
      assert.match(key, /^sy_live_[A-Za-z0-9]{40,}$/);
      const { organizationId } = expectStatus(
        await admin.get<{ organizationId: string }>(`/v1/projects/${home.company}`),
        200,
      );
      const prefix = String(made.prefix);
      assert.ok(key.startsWith(prefix) && prefix.length <= 16);
      const { apiKeyId: createdByKeyId } = expectStatus(await admin.get<{ apiKeyId: string }>('/v1/me'), 200);
      const unset = { expiresAt: null, lastUsedAt: null };
      expectRecord(made, { ...body, projectId: home.company, organizationId, prefix, createdByKeyId, ...unset });

      assert.deepEqual(expectStatus(await admin.post(path, body, once), 201), made);
      const { keys } = expectStatus(await admin.get<{ keys: object[] }>(path), 200);
      assert.deepEqual(
        keys.find((listed) => (listed as Named).id === made.id),
        made,
      );
      assert.ok(!JSON.stringify(keys).includes(key));
      expectStatus(await admin.as(key).get('/v1/me'), 200);
      const used = await poll(async () => {
        const list = expectStatus(await admin.get<{ keys: Array<Named & { lastUsedAt: string | null }> }>(path), 200);
        return list.keys.find(({ id }) => id === made.id)?.lastUsedAt ?? null;
      }, 5_000);
      assert.match(String(used), /:00\.000Z$/);
    });

    it('refuses a key as soon as its revocation has answered', async () => {
      const made = await newKey(admin, home.company, 'project');
      const client = admin.as(made.key);
      const flows = `/v1/projects/${home.company}/flows`;
      await Promise.all(Array.from({ length: 20 }, async () => expectStatus(await client.get(flows), 200)));
      const { key: _, ...record } = made;
      const revoked = expectStatus(await admin.remove<Record<string, unknown>>(`/v1/keys/${made.id}`), 200);
      assert.equal(revoked.id, record.id);
      assert.equal(revoked.key, undefined);
      const replies = await Promise.all(Array.from({ length: 20 }, () => client.get(flows)));
      for (const reply of replies) expectProblem(reply, 401, 'key-invalid');
      expectProblem(await client.get('/v1/me'), 401, 'key-invalid');
      expectProblem(await admin.remove(`/v1/keys/${made.id}`), 404, 'key-not-found');
      expectProblem(await admin.post(`/v1/keys/${made.id}/rotate`), 404, 'key-not-found');
      const { keys } = expectStatus(await admin.get<{ keys: Named[] }>(`/v1/projects/${home.company}/keys`), 200);
      assert.ok(!keys.some(({ id }) => id === made.id));
    });

    it('accepts a new secret after rotation, and the old one until the overlap ends', async () => {
      const made = await newKey(admin, home.company, 'project');
      const works = async (key: string) => (await admin.as(key).get('/v1/me')).status;
      const rotate = async (body?: object) =>
        expectStatus(await admin.post<MadeKey>(`/v1/keys/${made.id}/rotate`, body), 200);
      const second = await rotate();
      assert.equal(second.id, made.id);
      assert.deepEqual([await works(made.key), await works(second.key)], [401, 200]);
      const third = await rotate({ overlapSeconds: 86_400 });
      assert.deepEqual([await works(second.key), await works(third.key)], [200, 200]);
      for (const overlapSeconds of [-1, 86_401, 1.5, '5', null, true]) {
        const reply = await admin.post(`/v1/keys/${made.id}/rotate`, { overlapSeconds });
        expectProblem(reply, 422, 'invalid-input', ['/overlapSeconds']);
      }
      const fourth = await rotate({ overlapSeconds: 1 });
      assert.ok(await poll(async () => (await works(third.key)) === 401, 30_000), 'the old secret still works');
      assert.deepEqual([await works(second.key), await works(fourth.key)], [401, 200]);
    });

    it('rotates a key once for a repeated request, and does not repeat the secret', async () => {
      const made = await newKey(admin, home.company, 'project');
      const path = `/v1/keys/${made.id}/rotate`;
      const once = { 'idempotency-key': 'rotate-a-key' };
      const { key, ...record } = expectStatus(await admin.post<MadeKey>(path, { overlapSeconds: 0 }, once), 200);
      const again = expectStatus(await admin.post<Partial<MadeKey>>(path, { overlapSeconds: 0 }, once), 200);
      assert.deepEqual(again, record);
      expectStatus(await admin.as(key).get('/v1/me'), 200);
      expectProblem(await admin.post(path, { overlapSeconds: 1 }, once), 422, 'idempotency-key-reused');
    });

    it('refuses to rotate or revoke a key with more rights than the caller', async () => {
      const wide = await newKey(admin, home.company, 'organization');
      const client = await holder(home.company, 'project');
      for (const reply of [
        await client.post(`/v1/keys/${wide.id}/rotate`),
        await client.remove(`/v1/keys/${wide.id}`),
      ]) {
        expectProblem(reply, 403, 'key-type-not-allowed');
      }
      expectStatus(await admin.as(wide.key).get('/v1/me'), 200);
    });
  });

  describe('authentication', () => {
    it('accepts a key in either header, and in both when they are equal', async () => {
      const anonymous = admin.as(null);
      const bearer = `Bearer ${adminKey}`;
      for (const headers of [
        { authorization: bearer },
        { authorization: `bearer ${adminKey}` },
        { 'x-api-key': adminKey },
        { authorization: bearer, 'x-api-key': adminKey },
      ] as ReadonlyArray<Record<string, string>>) {
        expectStatus(await anonymous.get('/v1/me', headers), 200);
      }
    });

    it('answers 401 with WWW-Authenticate without a key and with a wrong one, on every path but the public ones', async () => {
      const anonymous = admin.as(null);
      const wrong = `sy_live_${'0'.repeat(40)}`;
      for (const path of ['/v1/me', '/v1/projects', `/v1/flows/${unknownId}`, '/v1/nothing', '/v1/flows/1']) {
        const plane = path === '/v1/me' || path === '/v1/nothing' ? 'both planes' : 'control plane';
        const expectRefused = async (headers: Record<string, string>, code: string) =>
          expectProblem(await anonymous.get(path, headers), 401, code, [], plane);
        await expectRefused({}, 'key-required');
        await expectRefused({ authorization: `Basic ${adminKey}` }, 'key-required');
        await expectRefused({ authorization: `Bearer ${wrong}` }, 'key-invalid');
        await expectRefused({ 'x-api-key': wrong }, 'key-invalid');
        const both = { authorization: `Bearer ${adminKey}`, 'x-api-key': wrong };
        assert.equal((await anonymous.get(path, both)).status, 401);
      }
      for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs']) {
        assert.ok((await anonymous.get(path)).status < 400, path);
      }
    });
  });
});

describeOnEngines(`API keys after kill -9 ${long}`, (engines) => {
  const running = runningService(engines);

  it('still work, unless they were revoked', async () => {
    const projectId = await newProject(running.client);
    const [kept, revoked] = [
      await newKey(running.client, projectId, 'project'),
      await newKey(running.client, projectId, 'project'),
    ];
    expectStatus(await running.client.remove(`/v1/keys/${revoked.id}`), 200);
    const restarted = await running.restarted();
    expectStatus(await restarted.as(kept.key).get('/v1/me'), 200);
    expectProblem(await restarted.as(revoked.key).get('/v1/me'), 401, 'key-invalid');
  });
});

function expectRefusal(reply: Reply<unknown>, { name }: OperationCase, status: number, code: string): void {
  assert.equal(reply.status, status, `${name}: ${reply.text}`);
  expectProblem(reply, status, code);
}

async function readAll(admin: Client, { projectId, flowId }: ProjectResources): Promise<ReadonlyArray<unknown>> {
  const lists = ['flows', 'phone-numbers', 'agent-profiles', 'keys'].map((name) => `/v1/projects/${projectId}/${name}`);
  const paths = [...lists, `/v1/flows/${flowId}/versions`, `/v1/projects/${projectId}`];
  return Promise.all(paths.map(async (path) => expectStatus(await admin.get(path), 200)));
}
