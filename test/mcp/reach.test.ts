import assert from 'node:assert/strict';
import { newKey, newOrganization, newProject } from '#test/e2e/support/tenants.ts';
import { mcpService } from './support/mcp-service.ts';

describe('what a key may do over MCP', function () {
  this.timeout(60_000);

  const service = mcpService({ REQUESTS_PER_MINUTE: '100000' });
  let flowId: string;
  let versionId: string;
  let projectId: string;
  let foreignKey: string;

  before(async () => {
    const admin = service.client;
    projectId = await newProject(admin, await newOrganization(admin, false));
    const created = await admin.post<{ id: string }>(`/v1/projects/${projectId}/flows`, {
      name: 'Mine',
      flowSchema: {},
    });
    flowId = created.body.id;
    const listed = await admin.get<{ versions: { id: string }[] }>(`/v1/flows/${flowId}/versions`);
    versionId = listed.body.versions[0]?.id ?? '';
    const elsewhere = await newProject(admin, await newOrganization(admin, false));
    foreignKey = (await newKey(admin, elsewhere, 'project')).key;
  });

  it('lists no tool whose scope the key lacks', async () => {
    const { key } = await newKey(service.client, projectId, 'project', ['flows:read']);
    const tools = await service.connect(key).tools();
    const names = tools.map(({ name }) => name);
    for (const name of ['get_flow', 'list_flows', 'get_flow_history', 'introspect_key'])
      assert.ok(names.includes(name));
    for (const { name, annotations } of tools) {
      assert.match(name, /flow|introspect_key/);
      assert.equal(annotations?.readOnlyHint, true, name);
    }
  });

  it('refuses the call of a tool whose scope the key lacks as the REST API does', async () => {
    const { key } = await newKey(service.client, projectId, 'project', ['flows:read']);
    const client = service.connect(key);
    const refused = await client.call('delete_flow', { flowId });
    assert.match(refused.content[0]?.text ?? '', /^scope-required \(403\)/);
    assert.equal((await service.client.get(`/v1/flows/${flowId}`)).status, 200);
  });

  it('conceals another tenant’s flow in every tool that takes its id', async () => {
    const client = service.connect(foreignKey);
    const ids: Readonly<Record<string, string>> = { flowId, versionId, otherVersionId: versionId, projectId };
    const tools = (await client.tools()).filter(({ inputSchema: { required = [] } }) => {
      const wanted = required.filter((name) => /[iI]d$/.test(name));
      return wanted.length > 0 && wanted.every((name) => name in ids);
    });
    assert.ok(tools.length > 12);
    for (const { name } of tools) {
      const answer = await client.call(name, ids);
      assert.equal(answer.isError, true, name);
      assert.match(answer.content[0]?.text ?? '', /^[a-z-]+-not-found \(404\)/, `${name}: ${answer.content[0]?.text}`);
      assert.ok(!JSON.stringify(answer).includes('Mine'), name);
    }
  });

  it('conceals another tenant’s flow in resources, completions and prompts', async () => {
    const client = service.connect(foreignKey);
    for (const uri of [
      `flows/${flowId}`,
      `flows/${flowId}/history`,
      `flows/${flowId}/versions`,
      `flow-versions/${versionId}`,
    ]) {
      await assert.rejects(client.read(`switchyard://${uri}`), { code: -32_602 }, uri);
    }
    const completed = await client.complete(
      { type: 'ref/resource', uri: 'switchyard://flows/{flowId}' },
      { name: 'flowId', value: flowId.slice(0, 4) },
    );
    assert.deepEqual(completed, []);
    await assert.rejects(client.prompt('review_flow_change', { versionId }), { code: -32_602 });
    await assert.rejects(client.prompt('explain_changes', { flowId, since: '2020-01-01T00:00:00Z' }), {
      code: -32_602,
    });
  });

  it('offers only the resources and prompts that the scopes allow', async () => {
    const { key } = await newKey(service.client, projectId, 'project', ['phone-numbers:read']);
    const client = service.connect(key);
    assert.deepEqual(await client.prompts(), []);
    assert.deepEqual(await client.resources(), ['switchyard://me']);
    for (const template of await client.templates()) assert.match(template, /phone-numbers/);
    await assert.rejects(client.read(`switchyard://flows/${flowId}`), { code: -32_602 });
  });

  it('refuses a revoked key immediately', async () => {
    const made = await newKey(service.client, projectId, 'project');
    const client = service.connect(made.key);
    assert.equal((await client.call('get_flow', { flowId })).isError ?? false, false);
    await service.client.remove(`/v1/keys/${made.id}`);
    await assert.rejects(client.call('get_flow', { flowId }), /401|key-invalid|not valid/i);
  });

  for (const [how, query] of [
    ['?readonly=1', '?readonly=1'],
    ['?readonly=true', '?readonly=true'],
  ] as const) {
    it(`offers only queries with ${how}`, async () => {
      const client = service.connect(undefined, query);
      const tools = await client.tools();
      assert.ok(tools.length > 30);
      for (const { annotations, name } of tools) assert.equal(annotations?.readOnlyHint, true, name);
      await assert.rejects(client.call('delete_flow', { flowId }), { code: -32_602 });
      assert.equal((await client.call('get_flow', { flowId })).structuredContent.name, 'Mine');
    });
  }

  it('offers a group of tools with ?tools=, and names the known groups', async () => {
    const client = service.connect(undefined, '?tools=flows,templates');
    const names = (await client.tools()).map(({ name }) => name);
    assert.ok(names.includes('create_flow') && names.includes('publish_template_version'));
    assert.ok(
      names.every((name) => /flow|template|introspect/.test(name)),
      names.join(),
    );
    await assert.rejects(client.call('list_projects'), { code: -32_602 });
    const reply = await service.client.post<{ code: string; detail: string }>('/mcp?tools=flow', {});
    assert.deepEqual([reply.status, reply.body.code], [422, 'invalid-input']);
    assert.match(reply.body.detail, /flows, .*templates/);
  });
});
