import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mcpService } from '../../mcp/support/mcp-service.ts';
import { adminKey } from '../../support/service/admin-key.ts';

const bin = resolve(import.meta.dirname, '../../../src/cli/switchyard-mcp.mjs');

describe('switchyard-mcp', function () {
  this.timeout(60_000);

  const service = mcpService();

  for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
    it(`serves an official client (${typeof mode === 'string' ? mode : mode.pin})`, async () => {
      const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [bin, '--url', service.url, '--readonly', '--tools', 'flows'],
        env: { SWITCHYARD_API_KEY: adminKey },
        stderr: 'ignore',
      });
      await client.connect(transport);
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === 'get_flow'));
      assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
      const me = await client.callTool({ name: 'introspect_key', arguments: {} });
      assert.equal((me.structuredContent as { keyType: string }).keyType, 'admin');
      const read = await client.readResource({ uri: 'switchyard://me' });
      assert.equal(read.contents.length, 1);
      await client.close();
    });
  }
});
