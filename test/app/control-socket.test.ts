import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Client as HttpClient } from 'undici';
import { openControlSocket } from '#app/control-socket.ts';
import { createLocalApp } from '#app/local-app.ts';
import { Admission } from '#exchange/admission.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';
import { fakeOperations, widgetId } from '#test/http/support/fake-service.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

describe('the control socket', () => {
  const folder = temporaryFolder();
  let admission: Admission;
  let close: () => Promise<void>;
  let client: HttpClient;

  beforeEach(async () => {
    admission = new Admission();
    const path = join(folder.path, 'control.sock');
    const createOnDemand = async () =>
      createLocalApp({
        operations: fakeOperations(),
        readiness: async () => [],
        version: '0.2.0',
        metrics: createMetrics(),
        log: loggerOn('silent', process.stdout),
        limits: { maxBodyBytes: 4_096 },
        admission,
      });
    close = await openControlSocket(createOnDemand, path);
    client = new HttpClient('http://localhost', { socketPath: path });
  });
  afterEach(async () => {
    await client.close();
    await close();
  });
  after(() => folder.remove());

  async function statusOf(method: 'GET' | 'PATCH'): Promise<number> {
    const path = `/v1/widgets/${widgetId}`;
    const headers = { authorization: 'Bearer local', 'content-type': 'application/json' };
    const asked = method === 'PATCH' ? { method, path, headers, body: '{"name":"gear"}' } : { method, path, headers };
    const { statusCode, body } = await client.request(asked);
    await body.dump();
    return statusCode;
  }

  it('answers queries and commands while clients hold all bytes of the answers of the node', async () => {
    const { answer } = admission.budgets;
    const hold = answer.hold('some-project');
    hold.resize(answer.maxBytes);
    assert.deepEqual([await statusOf('GET'), await statusOf('PATCH')], [200, 200]);
    hold.release();
  });

  it('refuses a body while the node has no room for bodies', async () => {
    const { body } = admission.budgets;
    const hold = body.hold('some-project');
    hold.resize(body.maxBytes);
    assert.equal(await statusOf('PATCH'), 503);
    hold.release();
  });
});
