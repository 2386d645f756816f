import assert from 'node:assert/strict';
import { Recordings } from '#test/support/recordings/player.ts';
import { mcpService } from './support/mcp-service.ts';
import { messageForm } from './support/message-form.ts';

describe('MCP with recorded official clients', function () {
  this.timeout(60_000);

  const service = mcpService();
  const recordings = new Recordings('mcp', messageForm);

  for (const dialect of recordings.names)
    it(`lists everything, calls a tool and reads, by ${dialect}`, async () => {
      assert.equal(await recordings.play(dialect).step(service.url), 'admin');
    });
});
