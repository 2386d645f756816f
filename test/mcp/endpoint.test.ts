import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newKey, newOrganization, newProject } from '#test/e2e/support/tenants.ts';
import { adminKey } from '#test/support/service/admin-key.ts';
import { Client } from '#test/support/service/client.ts';
import { mcpService } from './support/mcp-service.ts';

const mebibyte = 1024 * 1024;

describe('the endpoint of MCP', function () {
  this.timeout(60_000);

  const service = mcpService({
    MCP_ALLOWED_ORIGINS: 'https://app.example.com,http://localhost:3000',
    REQUESTS_PER_MINUTE: '20',
  });
  const always = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const post = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}, client = service.client) =>
    client.send({ method: 'POST', path: '/mcp', headers: { ...always, ...headers }, body });

  it('answers 401 with WWW-Authenticate without a key, and with a wrong one', async () => {
    const without = await post(list, {}, service.client.as(null));
    assert.equal(without.status, 401);
    assert.equal(without.headers['www-authenticate'], 'Bearer realm="switchyard"');
    const wrong = await post(list, {}, service.client.as(`sy_live_${'zyxwvuts98'.repeat(4)}`));
    assert.equal(wrong.status, 401);
    assert.match(wrong.headers['www-authenticate'] ?? '', /invalid_token/);
  });

  it('answers other methods with 405, because there are no sessions', async () => {
    for (const method of ['GET', 'DELETE', 'PUT'] as const) {
      const reply = await service.client.send({ method, path: '/mcp', headers: always });
      assert.deepEqual([reply.status, reply.headers.allow], [405, 'POST'], method);
    }
  });

  for (const origin of ['https://evil.example.com', 'null', 'http://localhost:3001', 'nonsense']) {
    it(`refuses a page of the origin ${origin} with 403`, async () => {
      const reply = await post(list, { Origin: origin });
      assert.deepEqual([reply.status, reply.body.code], [403, 'origin-not-allowed']);
    });
  }

  it('accepts pages of its own origin and of the origins in MCP_ALLOWED_ORIGINS', async () => {
    for (const origin of [service.url, 'https://app.example.com', 'http://localhost:3000']) {
      assert.equal((await post(list, { Origin: origin })).status, 200, origin);
    }
  });

  it('refuses a foreign Host on loopback, and accepts the names of this machine', async () => {
    assert.equal((await post(list, { Host: 'evil.example.com' })).status, 403);
    assert.equal((await post(list, { Host: 'evil.example.com', Origin: 'http://evil.example.com' })).status, 403);
    for (const host of ['localhost:1234', '127.0.0.1', '[::1]:80', 'app.example.com']) {
      assert.equal((await post(list, { Host: host })).status, 200, host);
    }
  });

  it('applies the limits of the REST API to bodies', async () => {
    assert.equal((await post(`{"a": "${'x'.repeat(mebibyte)}"}`)).status, 413);
    assert.equal((await post(list, { 'Content-Type': 'text/plain' })).status, 415);
    assert.equal((await post(list, { 'Content-Encoding': 'gzip' })).status, 415);
  });

  it('refuses an integer in the arguments of a tool that JSON gives back with other digits', async () => {
    const projectId = await newProject(service.client, await newOrganization(service.client, false));
    const call = (number: string) =>
      post(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_flow","arguments":` +
          `{"projectId":"${projectId}","name":"a","flowSchema":{"limit":[${number}]}}}}`,
      );
    const refused = await call('9007199254740993');
    assert.match(refused.text, /"isError":true/);
    assert.match(refused.text, /"code":"number-not-exact"/);
    assert.match(refused.text, /"pointer":"\/flowSchema\/limit\/0"/);
    assert.doesNotMatch((await call('12345678901234567000')).text, /"isError":true/);
  });

  it('counts its requests against the rate limit', async () => {
    const projectId = await newProject(service.client, await newOrganization(service.client, false));
    const { key } = await newKey(service.client, projectId, 'project');
    const limited = new Client(service.url, key);
    for (let number = 0; number < 20; number += 1) assert.equal((await post(list, {}, limited)).status, 200);
    const refused = await post(list, {}, limited);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    await limited.close();
  });

  for (const [what, body, code] of [
    ['no JSON', '{"jsonrpc"', -32_700],
    ['nothing', '', -32_700],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), -32_700],
    ['a batch', `[${list},${list}]`, -32_600],
    ['an empty batch', '[]', -32_600],
    ['a text', '"tools/list"', -32_600],
    [
      'nesting of 300 levels',
      `{"jsonrpc":"2.0","id":1,"method":"x","params":${'['.repeat(300)}${']'.repeat(300)}}`,
      -32_600,
    ],
    ['60,000 values', `{"jsonrpc":"2.0","id":1,"method":"x","params":[${'1,'.repeat(60_000)}1]}`, -32_600],
  ] as const) {
    it(`answers ${what} with an error of JSON-RPC`, async () => {
      const reply = await post(body);
      assert.equal(reply.status, 400, reply.text);
      const { jsonrpc, error, id } = reply.body as {
        jsonrpc: string;
        error: { code: number; message: string };
        id: null;
      };
      assert.deepEqual([jsonrpc, error.code, id], ['2.0', code, null]);
      assert.ok(error.message.length > 10);
    });
  }

  for (const [what, message, status] of [
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'tools/list' }, 400],
    ['an id that is null', { jsonrpc: '2.0', id: null, method: 'tools/list' }, 400],
    ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'tools/list' }, 400],
    ['no method', { jsonrpc: '2.0', id: 1 }, 400],
    ['a method that there is not', { jsonrpc: '2.0', id: 1, method: 'nothing/here' }, 200],
    ['a tool that there is not', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'no_tool' } }, 200],
    ['no name of a tool', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, 200],
    ['a wish to listen', { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} }, 404],
  ] as const) {
    it(`answers ${what} with an error of JSON-RPC`, async () => {
      const reply = await post(JSON.stringify(message));
      assert.equal(reply.status, status, reply.text);
      assert.match(reply.text, /"error":\{"code":-32\d{3},/);
    });
  }

  it('treats arguments with the names of an object’s prototype as ordinary members', async () => {
    const given = '{"name": "N", "__proto__": {"organizationId": "c"}, "constructor": 1}';
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_project","arguments":${given}}}`;
    const reply = await post(body);
    assert.equal(reply.status, 200);
    assert.match(reply.text, /Done: Create a project/);
  });

  it('survives any message', async () => {
    const messages = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record({ jsonrpc: fc.constant('2.0'), id: fc.jsonValue(), method: fc.string(), params: fc.jsonValue() })
        .map(textOf),
      fc
        .record({
          name: fc.constantFrom('create_flow', 'get_flow', 'list_flows', 'delete_flow'),
          arguments: fc.jsonValue(),
        })
        .map((params) => textOf({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })),
    );
    await fc.assert(
      fc.asyncProperty(messages, async (body) => {
        const reply = await post(body);
        assert.ok([200, 202, 400, 404].includes(reply.status), `${reply.status} for ${body}`);
        assert.doesNotMatch(reply.text, /internal-error|-32603/);
      }),
      { numRuns: 150 },
    );
    assert.equal((await post(list)).status, 200);
  }).timeout(60_000);

  it('shows no key in logs and answers', async () => {
    const reply = await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"introspect_key"}}`);
    assert.ok(!reply.text.includes(adminKey));
  });

  it('sends the whole answer as text, too, for clients that read only text', async () => {
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'introspect_key' } });
    const old = await post(call);
    assert.match(old.text, /\\"keyType\\":\\"admin\\"/);
    const current = await post(call, { 'Mcp-Protocol-Version': '2025-11-25' });
    assert.doesNotMatch(current.text, /\\"keyType\\"/);
    const asked = await service.client.send({
      ...{ method: 'POST', path: '/mcp?text=whole', body: call },
      headers: { ...always, 'Mcp-Protocol-Version': '2025-11-25' },
    });
    assert.match(asked.text, /\\"keyType\\":\\"admin\\"/);
  });
});

function textOf(value: unknown): string {
  return JSON.stringify(value);
}
