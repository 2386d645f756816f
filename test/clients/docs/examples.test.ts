import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtInConfiguration } from '../../../src/gateway/config/configuration-file.ts';
import { assertAnswered, examples, nameOf } from '../../docs/client-examples.ts';
import { type GatewayService, startGateway } from '../../gateway/support/gateway-service.ts';
import { goodKey } from '../../http/support/fake-service.ts';

const run = promisify(execFile);
/** Node looks from here for the packages that they import. */
const clients = join(import.meta.dirname, '..');

describe('the examples in docs/clients.md', function () {
  this.timeout(60_000);
  let service: GatewayService;

  before(async () => {
    service = await startGateway(builtInConfiguration);
  });
  after(() => service.stop());

  for (const [index, code] of examples.entries())
    it(`run as they are: ${nameOf(code)} (${index + 1})`, async () => {
      const script = code.replaceAll('http://127.0.0.1:8080', service.url);
      const args = ['--input-type=module', '--eval', script];
      const env = { PATH: process.env.PATH, SWITCHYARD_API_KEY: goodKey };
      assertAnswered((await run(process.execPath, args, { cwd: clients, env })).stdout);
    });
});
