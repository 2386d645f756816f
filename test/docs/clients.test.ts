import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtInConfiguration } from '#gateway/config/configuration-file.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8');
const examples = [...page.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code);

/** The packages that an example imports name it. */
const nameOf = (code: string) => [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name).join(', ');

describe('the examples in docs/clients.md', function () {
  this.timeout(60_000);
  let service: GatewayService;

  before(async () => {
    service = await startGateway(builtInConfiguration);
  });
  after(() => service.stop());

  it('are of all clients', () => {
    assert.deepEqual(examples.map(nameOf), [
      'openai',
      'openai',
      '@openai/agents, openai',
      '@anthropic-ai/sdk',
      '@ai-sdk/openai, ai',
      '@ai-sdk/openai, ai',
      '@ai-sdk/anthropic, ai',
      '@langchain/openai',
      '@langchain/openai',
      '@langchain/anthropic',
    ]);
  });

  for (const [index, code] of examples.entries())
    it(`run as they are: ${nameOf(code)} (${index + 1})`, async () => {
      const script = code.replaceAll('http://127.0.0.1:8080', service.url);
      const args = ['--input-type=module', '--eval', script];
      const env = { PATH: process.env.PATH, SWITCHYARD_API_KEY: goodKey };
      const { stdout } = await run(process.execPath, args, { cwd: root, env });
      const [text = '', ...vectors] = stdout.trim().split('\n');
      assert.equal(text, 'This is the Switchyard sandbox and no model. You said: When do you open?');
      assert.ok(
        vectors.every((length) => length === '1536'),
        stdout,
      );
    });
});
