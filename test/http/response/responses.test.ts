import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'mocha';
import { failures } from '#domain/shared/failure.ts';
import { type FakeService, goodKey, startFakeService, widgetId } from '#test/http/support/fake-service.ts';

const headers = { authorization: `Bearer ${goodKey}` };
const list = `/v1/projects/${widgetId}/widgets`;

describe('HTTP answers', () => {
  let service: FakeService;
  let ready = true;

  before(async () => {
    service = await startFakeService({
      readiness: async () => [{ name: 'projections', ready, detail: ready ? 'live' : 'rebuilding' }],
    });
  });
  after(() => service.stop());

  const get = (path: string, more: Record<string, string> = headers) => fetch(service.url + path, { headers: more });

  it('carry the resource, its revision and the security headers', async () => {
    const answer = await get(`/v1/widgets/${widgetId}`);
    assert.deepEqual(await answer.json(), { id: widgetId, name: 'cog', shape: { teeth: 12 } });
    const expected = {
      'content-type': 'application/json',
      etag: '"3"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'access-control-allow-origin': null,
      'x-powered-by': null,
      server: null,
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(answer.headers.get(name), value, name);
  });

  it('to HEAD are those to GET, without the body', async () => {
    const head = await fetch(`${service.url}/v1/widgets/${widgetId}`, { method: 'HEAD', headers });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-length'), '68');
    assert.equal(head.headers.get('etag'), '"3"');
    assert.equal(await head.text(), '');
  });

  it('to a creation tell where it is and its position', async () => {
    const answer = await fetch(service.url + list, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"name":"Zahnrad – ⚙️","shape":{}}',
    });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get('location'), `/v1/widgets/${widgetId}`);
    assert.equal(answer.headers.get('switchyard-position'), '7');
    assert.equal(answer.headers.get('etag'), '"0"');
    assert.equal(((await answer.json()) as { name: string }).name, 'Zahnrad – ⚙️');
  });

  it('without content have no body and no type', async () => {
    const answer = await fetch(`${service.url}/v1/widgets/${widgetId}`, { method: 'DELETE', headers });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get('content-type'), null);
    assert.equal(answer.headers.get('switchyard-position'), '11');
  });

  it('of a list link to the next page, keeping the other parameters', async () => {
    const answer = await get(`${list}?limit=1&cursor=old&tag=a%20b`);
    assert.equal(answer.headers.get('link'), `<${list}?limit=1&cursor=n%2F1&tag=a+b>; rel="next"`);
  });

  it('come with a hash of the bytes read for Idempotency-Key', async () => {
    const send = (body: string, query = '') =>
      fetch(`${service.url}${list}${query}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
    service.hashes.splice(0);
    await send('{"name":"a","shape":{}}');
    await send('{"name":"a","shape":{}}');
    await send('{"name":"a", "shape":{}}');
    await send('{"name":"a","shape":{}}', '?a=1');
    const [first, again, otherBytes, otherQuery] = service.hashes;
    assert.equal(first, createHash('sha256').update('{"name":"a","shape":{}}').digest('hex'));
    assert.equal(again, first);
    assert.notEqual(otherBytes, first);
    assert.notEqual(otherQuery, first);
  });

  describe('that need no key', () => {
    it('/healthz is exact', async () => {
      const answer = await get('/healthz', {});
      assert.equal(answer.status, 200);
      assert.deepEqual(await answer.json(), { status: 'ok', service: 'service-api', version: '0.2.0' });
      assert.equal((await fetch(`${service.url}/healthz`, { method: 'HEAD' })).status, 200);
    });

    it('/readyz tells what is not ready', async () => {
      ready = false;
      const not = await get('/readyz', {});
      assert.equal(not.status, 503);
      assert.equal(not.headers.get('retry-after'), '1');
      assert.deepEqual(await not.json(), {
        status: 'not-ready',
        checks: [{ name: 'projections', ready: false, detail: 'rebuilding' }],
      });
      ready = true;
      assert.equal((await get('/readyz', {})).status, 200);
    });

    it('/metrics counts requests by operation, never by path', async () => {
      await get('/v1/anything/at/all');
      await fetch(service.url + list, { method: 'POST', headers });
      const text = await (await get('/metrics', {})).text();
      assert.match(
        text,
        /switchyard_http_request_duration_seconds_count\{operation="get_widget",method="GET",status="200"\} \d/,
      );
      assert.match(
        text,
        /switchyard_http_request_duration_seconds_count\{operation="unknown",method="GET",status="404"\} \d/,
      );
      assert.match(text, /switchyard_command_duration_seconds_count\{command="create_widget"\} \d/);
      assert.doesNotMatch(text, new RegExp(widgetId));
    });

    it('/docs comes from the package alone, with a policy that allows no other place', async () => {
      const page = await get('/docs', {});
      const html = await page.text();
      assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/);
      assert.doesNotMatch(html, /https?:\/\//);
      const parts = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
      assert.ok(parts.length >= 4);
      for (const path of parts) {
        const part = await get(path, {});
        assert.equal(part.status, 200, path);
        assert.ok((await part.arrayBuffer()).byteLength > 100, path);
        const tag = part.headers.get('etag') ?? '';
        assert.equal((await get(path, { 'if-none-match': tag })).status, 304, path);
      }
      assert.equal((await get('/docs/assets/swagger-ui.js', headers)).status, 404);
      assert.equal((await get('/docs/assets/..%2fpackage.json', headers)).status, 404);
    });

    it('/ sends a browser to /docs, and is no path for anything else', async () => {
      const asked = async (accept: string, method = 'GET') => {
        const answer = await fetch(`${service.url}/`, { method, headers: { accept }, redirect: 'manual' });
        return [answer.status, answer.headers.get('location')];
      };
      const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
      assert.deepEqual(await asked(browser), [303, '/docs']);
      assert.deepEqual(await asked(browser, 'HEAD'), [303, '/docs']);
      assert.deepEqual(await asked(browser, 'POST'), [401, null]);
      for (const accept of ['*/*', 'application/json', 'text/html-like']) {
        assert.deepEqual(await asked(accept), [401, null], accept);
      }
    });

    it('/docs/problems has a place for every code', async () => {
      const html = await (await get('/docs/problems', {})).text();
      for (const code of Object.keys(failures)) assert.match(html, new RegExp(`id="${code}"`));
    });

    it('/openapi.json describes every operation', async () => {
      const document = (await (await get('/openapi.json', {})).json()) as {
        info: object;
        paths: Record<string, object>;
      };
      assert.deepEqual(Object.keys(document.paths[`/v1/widgets/{widgetId}`] ?? {}).sort(), ['delete', 'get', 'patch']);
    });
  });

  describe('in the log', () => {
    it('are one line each, without keys, bodies or query values', async () => {
      const before = service.logged().split('\n').length;
      await get(`${list}?tag=hidden-value`);
      await fetch(`${service.url}${list}?tag=hidden-value`, {
        method: 'POST',
        headers: { 'x-api-key': goodKey, 'content-type': 'application/json' },
        body: '{"name":"hidden-value"',
      });
      await get('/v1/widgets/x', { authorization: 'Bearer sy_live_wrong' });
      const lines = service.logged().split('\n');
      assert.equal(lines.length - before, 3);
      assert.doesNotMatch(service.logged(), /sy_live_|hidden-value/);
      const { time: _, ms, requestId, ...line } = JSON.parse(lines[before - 1] ?? '') as Record<string, unknown>;
      assert.deepEqual(line, {
        level: 'info',
        method: 'GET',
        operation: 'list_widgets',
        status: 200,
        keyId: 'ckey000001',
        msg: 'request',
      });
      assert.equal(typeof ms, 'number');
      assert.equal(typeof requestId, 'string');
    });
  });

  it('come from the planes of a node alone; health and metrics from every one', async () => {
    const statuses = async (...planes: ReadonlyArray<'control' | 'gateway'>) => {
      const node = await startFakeService({ planes: new Set(planes) });
      try {
        const get = async (path: string, init: RequestInit = {}) =>
          (await fetch(node.url + path, { headers, ...init })).status;
        return {
          control: await get(`/v1/widgets/${widgetId}`),
          gateway: await get('/v1/chat/completions', { method: 'POST', body: '{"model":"m","messages":[]}' }),
          docs: await get('/openapi.json'),
          health: [await get('/healthz'), await get('/readyz'), await get('/metrics')],
          withoutKey: await get(`/v1/widgets/${widgetId}`, { headers: {} }),
        };
      } finally {
        await node.stop();
      }
    };
    const health = [200, 200, 200];
    const all = await statuses('control', 'gateway');
    assert.deepEqual([all.control, all.docs, all.health], [200, 200, health]);
    assert.notEqual(all.gateway, 404);
    const control = await statuses('control');
    assert.deepEqual([control.control, control.gateway, control.docs, control.health], [200, 404, 200, health]);
    const gateway = await statuses('gateway');
    assert.deepEqual([gateway.control, gateway.docs, gateway.health, gateway.withoutKey], [404, 404, health, 401]);
    assert.equal(gateway.gateway, all.gateway);
    const none = await statuses();
    assert.deepEqual([none.control, none.gateway, none.docs, none.health], [404, 404, 404, health]);
  });
});
