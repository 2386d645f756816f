import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathsOfPlanes } from '#test/support/deployment/paths-of-planes.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { long } from '#test/support/run/long.ts';
import { describeBehindProxy, type Nodes, type RunningProxy, startProxy } from '#test/support/service/caddy.ts';
import { Client } from '#test/support/service/client.ts';
import { adminKey, startService, temporaryFolder } from '#test/support/service/service-process.ts';

describeBehindProxy('reverse proxy of the deployment', () => {
  const opened: Array<() => Promise<unknown>> = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  /** Starts a fake node whose answers the test sets. It answers its health check with 200. */
  async function node(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
    const server: Server = createServer((req, res) => {
      if (req.url === '/healthz') res.end();
      else answer(req, res);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const named = (name: string) => node((_, res) => res.end(name));
  const nobody = async () => `127.0.0.1:${await freePort()}`;

  async function proxyTo(nodes: Nodes): Promise<RunningProxy> {
    const proxy = await startProxy(nodes);
    opened.push(() => proxy.stop());
    return proxy;
  }

  async function realNode() {
    const folder = temporaryFolder();
    const service = await startService({ dataDir: folder.path });
    opened.push(async () => {
      await service.kill();
      folder.remove();
    });
    return { service, address: new URL(service.url).host };
  }

  it('sends each operation to a node of its plane, and everything else to control planes', async () => {
    const { url } = await proxyTo({ controlPlanes: [await named('control')], gateways: [await named('gateway')] });
    const serves = async (path: string) => (await fetch(`${url}${path}`)).text();
    for (const [plane, paths] of Object.entries(pathsOfPlanes()))
      for (const path of paths) assert.equal(await serves(path.replaceAll(/:\w+/g, 'c123456')), plane, path);
    assert.equal(await serves('/v1/chat/nothing'), 'gateway', 'which knows what resembles it');
    for (const path of ['/docs', '/openapi.json', '/mcp', '/dashboard', '/v1/me', '/readyz', '/v1/storesroom']) {
      assert.equal(await serves(path), 'control', path);
    }
  });

  it('answers a request for the metrics with 404', async () => {
    const { url } = await proxyTo({ controlPlanes: [await named('control')], gateways: [await nobody()] });
    assert.equal((await fetch(`${url}/metrics`)).status, 404);
  });

  it('forwards headers in both directions', async () => {
    const { address } = await realNode();
    const { url } = await proxyTo({ controlPlanes: [address], gateways: [address] });
    const client = new Client(url, adminKey);
    opened.push(() => client.close());
    const made = await client.post('/v1/projects', { name: 'Behind' });
    assert.equal(made.status, 201);
    assert.match(made.headers['switchyard-position'] ?? '', /^\d+$/);
    const read = await client.get('/v1/projects', { 'switchyard-min-position': '999999999999' });
    assert.equal(read.status, 422);
    assert.equal(read.body.code, 'position-beyond-log', 'the node itself said so');
  });

  it(`uses the other node when one is killed ${long}`, async () => {
    const [one, other] = [await realNode(), await realNode()];
    const { url } = await proxyTo({ controlPlanes: [one.address, other.address], gateways: [other.address] });
    const client = new Client(url, adminKey);
    opened.push(() => client.close());
    for (let asked = 0; asked < 60; asked += 1) {
      if (asked === 20) await one.service.kill();
      assert.equal((await client.get('/v1/me')).status, 200);
    }
  });

  for (const type of ['text/event-stream', 'audio/mpeg']) {
    it(`forwards a stream of ${type} as it arrives, and closes it when the client disconnects`, async () => {
      let answering: ServerResponse | undefined;
      const gateway = await node((_, res) => {
        answering = res;
        res.writeHead(200, { 'content-type': type });
        res.write('first');
      });
      const { url } = await proxyTo({ controlPlanes: [await nobody()], gateways: [gateway] });
      const leaving = new AbortController();
      const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', signal: leaving.signal });
      assert.ok(answer.body !== null);
      const reader = answer.body.getReader();
      assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'first');
      // The node writes the next part only after the client has read the first: buffered parts would never arrive.
      assert.ok(answering !== undefined);
      answering.write('second');
      assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'second');
      const left = once(answering, 'close');
      leaving.abort();
      await left;
      assert.equal(answering.writableFinished, false);
    });
  }

  it('forwards an upload as it arrives', async () => {
    const begun = Promise.withResolvers<void>();
    const gateway = await node(async (req, res) => {
      req.once('data', () => begun.resolve());
      await once(req.resume(), 'end');
      res.end('whole');
    });
    const { url } = await proxyTo({ controlPlanes: [await nobody()], gateways: [gateway] });
    const upload = request(`${url}/v1/files`, { method: 'POST' });
    const answered = once(upload, 'response');
    upload.write('a part');
    await begun.promise;
    upload.end();
    const [answer] = (await answered) as [IncomingMessage];
    assert.equal(answer.statusCode, 200);
    answer.resume();
  });

  it('answers in the error form of each plane when no node answers', async () => {
    const { url } = await proxyTo({ controlPlanes: [await nobody()], gateways: [await nobody()] });
    const [control, gateway] = await Promise.all([fetch(`${url}/v1/flows/c123456`), fetch(`${url}/v1/models`)]);
    for (const { status, headers } of [control, gateway]) {
      assert.ok(status === 502 || status === 503, String(status));
      assert.equal(headers.get('retry-after'), '1');
    }
    assert.equal(control.headers.get('content-type'), 'application/problem+json');
    const problem = (await control.json()) as Record<string, unknown>;
    assert.deepEqual([problem.status, problem.code], [control.status, 'unavailable']);
    assert.equal(gateway.headers.get('content-type'), 'application/json');
    const { error } = (await gateway.json()) as { error: Record<string, unknown> };
    assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
  });
});
