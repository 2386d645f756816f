import assert from 'node:assert/strict';
import { composeService } from '#test/support/service/service-in-process.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

describe('the log of the endpoint of MCP', function () {
  this.timeout(60_000);

  it('has a line for a refused message, and nothing of its headers and body', async () => {
    const folder = temporaryFolder();
    const service = await composeService({ dataDir: folder.path, environment: { LOG_LEVEL: 'info' } });
    try {
      const always = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
      const post = (message: object, headers: Readonly<Record<string, string>> = {}) =>
        service.client.send({
          method: 'POST',
          path: '/mcp',
          headers: { ...always, ...headers },
          body: JSON.stringify(message),
        });
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      await post(list, { 'MCP-Protocol-Version': 'private-words' });
      await post({ ...list, method: 'private-words', params: { _meta: { 'private-words': 1 } } });
      await post({ jsonrpc: 'private-words', id: 1 });
      await post({ ...list, method: 'tools/call', params: { name: 'private-words', arguments: 'private-words' } });
      await service.stop();
      assert.match(service.log, /MCP message refused/);
      assert.doesNotMatch(service.log, /private-words/);
    } finally {
      await service.stop();
      folder.remove();
    }
  });
});
