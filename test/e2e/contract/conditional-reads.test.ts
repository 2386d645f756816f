import assert from 'node:assert/strict';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { createResources, freshNumber, profileContents } from '#test/e2e/support/operations.ts';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import { newKey, newProject } from '#test/e2e/support/tenants.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';

type Named = { readonly id: string };

describeOnEngines('headers of reads and of creations over HTTP', (engines) => {
  const running = serviceOfProject(engines);
  let client: Client;
  let projectId: string;

  before(async () => {
    client = running.client;
    projectId = await newProject(client);
  });

  it('answers 304 without a body while the ETag in If-None-Match is the newest', async () => {
    const { flowId, versionId, phoneNumberId } = await createResources(client, projectId);
    for (const path of [
      `/v1/flows/${flowId}`,
      `/v1/flow-versions/${versionId}`,
      `/v1/phone-numbers/${phoneNumberId}`,
    ]) {
      const { headers } = await client.get(path);
      const etag = headers.etag ?? '';
      for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const reply = await client.get(path, { 'if-none-match': tag });
        assert.deepEqual([reply.status, reply.text, reply.headers.etag], [304, '', etag], `${path} ${tag}`);
      }
      expectStatus(await client.get(path, { 'if-none-match': '"999"' }), 200);
    }
    const path = `/v1/flows/${flowId}`;
    const before = (await client.get(path)).headers.etag ?? '';
    expectStatus(await client.patch(path, { name: 'Renamed' }), 200);
    const after = await client.get(path, { 'if-none-match': before });
    assert.deepEqual([after.status, after.body.name], [200, 'Renamed']);
  });

  it('answers an agent profile with its current flows, although its ETag does not change with them', async () => {
    const { agentProfileId, flowId } = await createResources(client, projectId);
    const path = `/v1/agent-profiles/${agentProfileId}`;
    const { etag = '' } = (await client.get(path)).headers;
    expectStatus(await client.patch(`/v1/flows/${flowId}`, { agentProfileId }), 200);
    const reply = await client.get(path, { 'if-none-match': etag });
    assert.deepEqual([reply.status, reply.headers.etag, reply.body.flowIds], [200, etag, [flowId]]);
  });

  it('marks replayed answers with a header', async () => {
    const path = `/v1/projects/${projectId}/flows`;
    const body = { name: 'Once', flowSchema: 1 };
    const [first, second, other] = [
      await client.post<Named>(path, body, { 'idempotency-key': 'once' }),
      await client.post<Named>(path, body, { 'idempotency-key': 'once' }),
      await client.post<Named>(path, body),
    ];
    const replayed = [first, second, other].map(({ headers }) => headers['idempotency-replayed']);
    assert.deepEqual(replayed, [undefined, 'true', undefined]);
    assert.equal(second.text, first.text);
  });

  it('names the URL of each created resource in Location', async () => {
    const inProject = `/v1/projects/${projectId}`;
    const flow = await client.post<Named>(`${inProject}/flows`, { name: 'F', flowSchema: 1 });
    const template = await client.post<Named>('/v1/templates', { name: 'T' });
    const payload = { flows: [{ key: 'a', name: 'A', flowType: 'simple', flowSchema: 1 }] };
    const version = await client.post<Named>(`/v1/templates/${template.body.id}/versions`, { payload });
    expectStatus(await client.post(`/v1/template-versions/${version.body.id}/publish`), 200);
    const created = [
      flow,
      template,
      version,
      await client.post(`/v1/flows/${flow.body.id}/versions`, { flowSchema: 1 }),
      await client.post(`${inProject}/phone-numbers`, { name: 'N', number: freshNumber() }),
      await client.post(`${inProject}/agent-profiles`, profileContents),
      await client.post(`${inProject}/keys`, { name: 'K', keyType: 'project' }),
      await client.post('/v1/projects', { name: 'P' }),
      await client.post('/v1/organizations', { name: 'O', partner: false }),
      await client.post('/v1/partner/customers', { name: 'C', clientEmail: 'a@example.com' }),
      await client.post('/v1/instances', { templateVersionId: version.body.id, projectId, name: 'I' }),
    ];
    for (const reply of created) {
      expectStatus(reply, 201);
      const read = await client.get<Named & { organizationId: string }>(reply.headers.location ?? 'no Location');
      const { id, organizationId } = expectStatus(read, 200);
      assert.ok([id, organizationId].includes(String(reply.headers.location?.split('/').at(-1))));
    }
  });

  it('names the URL of each created file, store and batch in Location, though they are answered with 200', async () => {
    const form = new FormData();
    form.set('file', new File(['{}'], 'a.jsonl'));
    form.set('purpose', 'batch');
    const { key } = await newKey(client, projectId, 'project');
    const owner = client.as(key);
    const headers = { authorization: `Bearer ${key}`, prefer: 'handling=strict' };
    const uploaded = await fetch(`${running.url}/v1/files`, { method: 'POST', headers, body: form });
    const { id: fileId } = (await uploaded.json()) as Named;
    assert.deepEqual([uploaded.status, uploaded.headers.get('location')], [200, `/v1/files/${fileId}`]);
    assert.equal(uploaded.headers.get('preference-applied'), null);
    const store = await owner.post<Named>('/v1/stores', { name: 'S' });
    const inStore = await owner.post<Named>(`/v1/stores/${store.body.id}/files`, { file_id: fileId });
    const batch = { input_file_id: fileId, endpoint: '/v1/chat/completions', completion_window: '24h' };
    for (const reply of [store, inStore, await owner.post<Named>('/v1/batches', batch)]) {
      const { id } = expectStatus(reply, 200);
      assert.equal(expectStatus(await owner.get<Named>(reply.headers.location ?? 'no Location'), 200).id, id);
    }
  });

  it('answers an organization, and that of a customer, only to the operator', async () => {
    const { body } = await client.post<Named>('/v1/organizations', { name: 'Northwind', partner: true });
    const path = `/v1/organizations/${body.id}`;
    assert.deepEqual(expectStatus(await client.get(path), 200), body);
    const customer = await client.post<{ organizationId: string }>('/v1/partner/customers', {
      name: 'Harbour Dental',
      clientEmail: 'a@example.com',
    });
    const customerPath = `/v1/organizations/${customer.body.organizationId}`;
    assert.equal(expectStatus(await client.get(customerPath), 200).name, 'Harbour Dental');
    const asOf = await client.get(`${customerPath}?asOf=${new Date().toISOString()}`);
    assert.equal(expectStatus(asOf, 200).name, 'Harbour Dental');
    const erased = await client.remove(`/v1/partner/customers/${customer.body.organizationId}/personal-data`);
    expectStatus(erased, 200);
    assert.equal(expectStatus(await client.get(customerPath), 200).name, 'erased');
    const key = await client.post<{ key: string }>(`/v1/projects/${projectId}/keys`, { name: 'K', keyType: 'partner' });
    assert.ok([403, 404].includes((await client.as(key.body.key).get(path)).status));
  });
});
