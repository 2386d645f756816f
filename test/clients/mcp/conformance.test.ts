import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { mcpService } from '../../mcp/support/mcp-service.ts';
import { adminKey } from '../../support/service/admin-key.ts';
import { temporaryFolder } from '../../support/service/service-process.ts';

const suite = resolve(import.meta.dirname, '../node_modules/@modelcontextprotocol/conformance/dist/index.js');

/**
 * The scenarios of the protocol's suite for any server. The others call tools and prompts of a server that is made
 * for them (`test_simple_text`, …), or features that this one does not declare (logging, subscriptions).
 */
const scenarios = [
  'server-initialize',
  'tools-list',
  'dns-rebinding-protection',
  'ping',
  'resources-list',
  'prompts-list',
  'server-sse-multiple-streams',
  'server-sse-polling',
];

describe('the conformance suite of MCP', function () {
  this.timeout(60_000);

  const service = mcpService();
  // The suite writes its results where it runs.
  const folder = temporaryFolder();
  after(() => folder.remove());
  let front: Server;
  let url: string;

  // The suite sends no key, so a proxy in front of the service adds one.
  before(async () => {
    front = createServer((asked, answer) => {
      const headers = { ...asked.headers, authorization: `Bearer ${adminKey}` };
      const { method } = asked;
      const target = new URL(asked.url ?? '/', service.url);
      const forwarded = request(target, { method: method ?? 'GET', headers }, (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(answer);
      });
      forwarded.on('error', () => answer.destroy());
      asked.pipe(forwarded);
    }).listen(0, '127.0.0.1');
    await once(front, 'listening');
    url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
  });
  after(async () => {
    front.closeAllConnections();
    front.close();
    await once(front, 'close');
  });

  for (const scenario of scenarios) {
    it(`passes ${scenario}`, async function () {
      this.timeout(60_000);
      const child = spawn(process.execPath, [suite, 'server', '--url', url, '--scenario', scenario], {
        cwd: folder.path,
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text) => {
          output += text;
        });
      }
      const [code] = await once(child, 'close');
      assert.equal(code, 0, output.slice(-2_000));
    });
  }
});
