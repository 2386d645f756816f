import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get as httpGet } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { describe, it } from 'mocha';
import type { Operation } from '#application/operations/operation.ts';
import { ClientDisconnectedError } from '#exchange/held.ts';
import { requestContextOf } from '#http/request/request-context.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import type { Route } from '#http/routes/router.ts';
import { createMetricsApp } from '#http/server/app.ts';
import { listen } from '#http/server/server.ts';
import { createStartingApp } from '#http/server/starting-app.ts';
import { currentOwner } from '#shared/async/fair-queue.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { caller, fakeOperations, goodKey, startFakeService, widgetId } from '#test/http/support/fake-service.ts';
import { rawRequest } from '#test/http/support/raw-request.ts';
import { eventually } from '#test/support/run/eventually.ts';

const headers = { authorization: `Bearer ${goodKey}` };

/** Fake operations of which `get_widget` waits until it is released. */
function heldOperations() {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const operations = fakeOperations().map((operation): Operation => {
    if (operation.name !== 'get_widget') return operation;
    return {
      ...operation,
      execute: async () => {
        begin();
        await released;
        return E.right({ status: 200, body: { done: true } });
      },
    };
  });
  return { operations, begun, release };
}

/** Hides a member of Node's handles of connections, as a later release may do. @returns a function that shows it again */
async function hideInHandles(name: string): Promise<() => void> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const handles = Object.getPrototypeOf((server as unknown as { readonly _handle: object })._handle);
  server.close();
  Object.defineProperty(handles, name, { value: undefined, configurable: true });
  return () => delete handles[name];
}

describe('HTTP server', () => {
  for (const name of ['bytesWritten', 'writeQueueSize']) {
    it(`does not start on a release of Node whose connections have no ${name}`, async () => {
      const show = await hideInHandles(name);
      try {
        await assert.rejects(
          listen(createStartingApp(), { host: '127.0.0.1', port: 0 }),
          /^StartupError: Node v[\d.]+ does not show which bytes of an answer a client has taken: start with Node 24\.$/,
        );
      } finally {
        show();
      }
    });
  }

  it('writes an answer for the project of its key', async () => {
    const owners: string[] = [];
    const chunks = async function* () {
      owners.push(currentOwner());
      yield 'a,b';
    };
    const operations = fakeOperations().map((operation): Operation => {
      if (operation.name !== 'get_widget') return operation;
      return {
        ...operation,
        execute: async () =>
          E.right({ status: 200, body: undefined, stream: { contentType: 'text/csv', chunks: chunks() } }),
      };
    });
    const service = await startFakeService({ operations });
    try {
      const answer = await fetch(`${service.url}/v1/widgets/${widgetId}`, { headers });
      assert.equal(await answer.text(), 'a,b');
      assert.deepEqual(owners, [caller.projectId]);
    } finally {
      await service.stop();
    }
  });

  it('refuses every request with 503 until it serves the app of the started service', async () => {
    const server = await listen(createStartingApp(), { host: '127.0.0.1', port: 0 });
    const url = `http://127.0.0.1:${server.port}`;
    try {
      for (const [method, path] of [
        ['GET', '/readyz'],
        ['GET', '/healthz'],
        ['GET', '/v1/me'],
        ['POST', '/v1/chat/completions'],
      ] as const) {
        const body = method === 'POST' ? '{"model":"a"}' : null;
        const response = await fetch(url + path, { method, headers, body });
        const problem = (await response.json()) as { code: string; instance: string; error: { code: string } };
        assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'], path);
        assert.deepEqual([problem.code, problem.instance, problem.error.code], ['unavailable', path, 'unavailable']);
      }
      server.serve(createMetricsApp(createMetrics()));
      assert.equal((await fetch(`${url}/metrics`)).status, 200);
    } finally {
      await server.stop();
    }
  });

  it('closes a connection whose headers do not arrive in time', async () => {
    const service = await startFakeService({}, { headersTimeoutMs: 200, requestTimeoutMs: 400 });
    const { text, closed } = await rawRequest(service.port, ['GET /healthz HTTP/1.1\r\n', 'Host: a\r\n']);
    assert.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    assert.ok(closed);
    await service.stop();
  });

  it('closes a connection whose body does not arrive in time, and serves others', async () => {
    const service = await startFakeService({}, { headersTimeoutMs: 200, requestTimeoutMs: 300 });
    const head = `POST /v1/projects/${widgetId}/widgets HTTP/1.1\r\nHost: a\r\nx-api-key: ${goodKey}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
    const { text, closed } = await rawRequest(service.port, [head, '{"name":']);
    assert.match(text, /^HTTP\/1\.1 408 /);
    assert.ok(closed);
    assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
    await service.stop();
    assert.match(service.logged(), /"operation":"create_widget","status":499/);
    assert.doesNotMatch(service.logged(), /internal error/);
  });

  it('logs no error of a public path whose client leaves', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const wait: Route = {
      method: 'GET',
      path: '/wait',
      handler: async (ctx) => {
        const { held } = requestContextOf(ctx);
        begin();
        await once(held.left, 'abort');
        throw new ClientDisconnectedError('The client left.');
      },
    };
    const service = await startFakeService({ publicRoutes: [wait] });
    const request = httpGet(`${service.url}/wait`);
    request.on('error', () => undefined);
    await begun;
    request.destroy();
    await eventually(() => service.logged().includes('"path":"/wait"'), 'the line of the request');
    assert.match(service.logged(), /"status":499/);
    assert.doesNotMatch(service.logged(), /internal error|"code"/);
    await service.stop();
  });

  it('answers invalid HTTP and too large headers with an error', async () => {
    const service = await startFakeService({}, { maxHeaderBytes: 2_048 });
    const garbage = await rawRequest(service.port, ['hello?\r\n\r\n']);
    assert.match(garbage.text, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.match(garbage.text, /"code":"bad-request"/);
    const large = await rawRequest(service.port, [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(5_000)}\r\n\r\n`]);
    assert.match(large.text, /^HTTP\/1\.1 431 /);
    await service.stop();
  });

  it('closes a connection with invalid HTTP without an answer while an earlier response is due', async () => {
    const { operations, begun, release } = heldOperations();
    const service = await startFakeService({ operations });
    const request = `GET /v1/widgets/${widgetId} HTTP/1.1\r\nHost: a\r\nx-api-key: ${goodKey}\r\n\r\n`;
    const answer = rawRequest(service.port, [request, 'garbage\r\n\r\n']);
    await begun;
    assert.deepEqual(await answer, { text: '', closed: true });
    release();
    await service.stop();
  });

  it('refuses connections beyond the limit', async () => {
    const service = await startFakeService({}, { maxConnections: 1 });
    const agent = new Agent({ keepAlive: true });
    const first = await new Promise<number>((resolve, reject) => {
      httpGet(`${service.url}/healthz`, { agent }, (res) => {
        res.resume().on('end', () => resolve(res.statusCode ?? 0));
      }).on('error', reject);
    });
    assert.equal(first, 200);
    assert.deepEqual(await rawRequest(service.port, ['GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n']), {
      text: '',
      closed: true,
    });
    agent.destroy();
    await service.stop();
  });

  it('answers running requests before it stops, and accepts no new ones', async () => {
    const { operations, begun, release } = heldOperations();
    const service = await startFakeService({ operations });
    const running = fetch(`${service.url}/v1/widgets/${widgetId}`, { headers });
    await begun;
    let stopped = false;
    const stop = service.stop().then(() => {
      stopped = true;
    });
    await sleep(60);
    assert.equal(stopped, false);
    await assert.rejects(fetch(`${service.url}/healthz`));
    release();
    assert.deepEqual(await (await running).json(), { done: true });
    await stop;
  });

  it('closes idle connections immediately when it stops', async () => {
    const service = await startFakeService({}, { stopTimeoutMs: 600_000 });
    await (await fetch(`${service.url}/healthz`)).text();
    await service.stop();
  });

  it('waits for running requests only up to the limit when it stops', async () => {
    const { operations, begun, release } = heldOperations();
    const service = await startFakeService({ operations }, { stopTimeoutMs: 100 });
    const running = assert.rejects(fetch(`${service.url}/v1/widgets/${widgetId}`, { headers }));
    await begun;
    await service.stop();
    await running;
    release();
  });

  it('names the variables to change when the address is in use', async () => {
    const service = await startFakeService();
    await assert.rejects(
      listen(createMetricsApp(createMetrics()), { host: '127.0.0.1', port: service.port }),
      (error: unknown) => {
        assert.ok(error instanceof StartupError);
        assert.match(error.message, new RegExp(`^Cannot listen on 127.0.0.1:${service.port} .*HOST and PORT`));
        return true;
      },
    );
    await service.stop();
  });

  it('serves metrics on a port of their own', async () => {
    const metrics = createMetrics();
    metrics.appendBatch({ appends: 3 });
    metrics.watchProjections(async () => [{ name: 'flows', positions: 12 }]);
    const server = await listen(createMetricsApp(metrics), { host: '127.0.0.1', port: 0 });
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
    assert.match(text, /switchyard_append_batch_size_sum 3\n/);
    assert.match(text, /switchyard_projection_lag_positions\{projection="flows"\} 12\n/);
    assert.equal((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status, 404);
    await server.stop();
    metrics.close();
  });
});
