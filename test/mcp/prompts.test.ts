import assert from 'node:assert/strict';
import { newKey, newProject } from '#test/e2e/support/tenants.ts';
import type { McpClient } from './support/mcp-client.ts';
import { mcpService } from './support/mcp-service.ts';

describe('prompts, completions and long lists of MCP', function () {
  this.timeout(60_000);

  const service = mcpService();
  let client: McpClient;
  let projectId: string;
  let flowId: string;
  let versionId: string;

  before(async () => {
    projectId = await newProject(service.client);
    const made = await service.client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, {
      name: 'Opening hours',
      flowSchema: { say: 'nine' },
    });
    flowId = made.body.id;
    const version = await service.client.post<{ id: string }>(`/v1/flows/${flowId}/versions`, {
      flowSchema: { say: 'eight' },
    });
    versionId = version.body.id;
    // A completion reads at most ten lists, and suites share the service: a key of all projects might not come to this one.
    client = service.connect((await newKey(service.client, projectId, 'project')).key);
  });

  it('offers three prompts', async () => {
    assert.deepEqual(await client.prompts(), ['review_flow_change', 'explain_changes', 'prepare_upgrade']);
  });

  it('includes both versions and their difference in a review', async () => {
    const [words, ...records] = await client.prompt('review_flow_change', { versionId });
    assert.match(words?.text ?? '', new RegExp(`Review the flow version ${versionId}`));
    const uris = records.map(({ resource }) => resource?.uri ?? '');
    assert.equal(uris.length, 4);
    assert.equal(uris[0], `switchyard://flow-versions/${versionId}`);
    assert.equal(uris[1], `switchyard://flows/${flowId}`);
    assert.match(uris[3] ?? '', /\/diff\//);
    assert.match(records[2]?.resource?.text ?? '', /"isActive":true/);
    assert.match(records[3]?.resource?.text ?? '', /eight/);
  });

  it('includes the history in an explanation', async () => {
    const [words, history] = await client.prompt('explain_changes', { flowId, since: '2020-01-01T00:00:00Z' });
    assert.match(words?.text ?? '', /Explain what changed/);
    assert.match(history?.resource?.text ?? '', /"FlowCreated"/);
    await assert.rejects(client.prompt('explain_changes', { flowId, since: 'yesterday' }), { code: -32_602 });
    await assert.rejects(client.prompt('explain_changes', { flowId }), { code: -32_602 });
  });

  it('refuses an unknown prompt and an unknown instance', async () => {
    await assert.rejects(client.prompt('no_prompt', {}), { code: -32_602 });
    await assert.rejects(client.prompt('prepare_upgrade', { instanceId: 'cnothere12345' }), { code: -32_602 });
  });

  it('completes the ids of resources by their first characters and by name', async () => {
    const flow = { type: 'ref/resource', uri: 'switchyard://flows/{flowId}' } as const;
    assert.deepEqual(await client.complete(flow, { name: 'flowId', value: flowId.slice(0, 12) }), [flowId]);
    assert.deepEqual(await client.complete(flow, { name: 'flowId', value: 'opening' }), [flowId]);
    assert.deepEqual(await client.complete(flow, { name: 'flowId', value: 'cnothere' }), []);
    const version = { type: 'ref/resource', uri: 'switchyard://flow-versions/{versionId}' } as const;
    assert.ok((await client.complete(version, { name: 'versionId', value: '' })).includes(versionId));
  });

  it('completes the arguments of prompts', async () => {
    const prompt = { type: 'ref/prompt', name: 'review_flow_change' } as const;
    assert.ok((await client.complete(prompt, { name: 'versionId', value: flowId.slice(0, 8) })).includes(versionId));
    const since = { type: 'ref/prompt', name: 'explain_changes' } as const;
    assert.deepEqual(await client.complete(since, { name: 'since', value: '2' }), []);
  });

  it('ends a list at 256 KiB with a cursor, returns a single record completely, and loses nothing', async () => {
    const big = 'x'.repeat(100_000);
    for (let number = 0; number < 4; number += 1) {
      await service.client.post(`/v1/flows/${flowId}/versions`, { flowSchema: { big, number } });
    }
    const huge = await service.client.post<{ id: string }>(`/v1/flows/${flowId}/versions`, {
      flowSchema: { big: 'y'.repeat(500_000) },
    });
    const seen: number[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await client.call('list_flow_versions', { flowId, ...(cursor === undefined ? {} : { cursor }) });
      const { versions, nextCursor } = page.structuredContent;
      const bytes = Buffer.byteLength(JSON.stringify(page.structuredContent));
      assert.ok(bytes <= 300_000 || versions.length === 1, `${bytes} bytes, ${versions.length} versions`);
      seen.push(...versions.map(({ version }: { version: number }) => version));
      if (nextCursor !== undefined) assert.match(page.content[0]?.text ?? '', /call again with nextCursor/);
      cursor = nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7]);
    assert.ok(pages >= 3);
    const whole = await client.call('get_flow_version', { versionId: huge.body.id });
    assert.equal(whole.structuredContent.flowSchema.big.length, 500_000);

    const { events, nextCursor } = await client.read(`switchyard://flows/${flowId}/history`);
    assert.ok(nextCursor !== undefined && events.length < 8);
  });
});
