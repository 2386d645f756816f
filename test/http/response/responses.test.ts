import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'mocha';
import { failures } from '#domain/failures.ts';
import { type FakeService, goodKey, startFakeService, widgetId } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

const headers = { authorization: `Bearer ${goodKey}` };
const list = `/v1/projects/${widgetId}/widgets`;

describe('HTTP responses', () => {
  let service: FakeService;
  let ready = true;
  let readinessChecks = 0;

  before(async () => {
    service = await startFakeService({
      readiness: async () => {
        readinessChecks += 1;
        return [{ name: 'projections', ready, detail: ready ? 'live' : 'rebuilding' }];
      },
    });
  });
  after(() => service.stop());

  const get = (path: string, more: Record<string, string> = headers) => fetch(service.url + path, { headers: more });

  it('sends a resource with its revision and the security headers', async () => {
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

  it('answers HEAD like GET without the body', async () => {
    const head = await fetch(`${service.url}/v1/widgets/${widgetId}`, { method: 'HEAD', headers });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-length'), '68');
    assert.equal(head.headers.get('etag'), '"3"');
    assert.equal(await head.text(), '');
  });

  it('answers a creation with its location and position', async () => {
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

  it('answers without content with no body and no content type', async () => {
    const answer = await fetch(`${service.url}/v1/widgets/${widgetId}`, { method: 'DELETE', headers });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get('content-type'), null);
    assert.equal(answer.headers.get('switchyard-position'), '11');
  });

  it('links a list to its next page and keeps the other parameters', async () => {
    const answer = await get(`${list}?limit=1&cursor=old&tag=a%20b`);
    assert.equal(answer.headers.get('link'), `<${list}?limit=1&cursor=n%2F1&tag=a+b>; rel="next"`);
  });

  it('hashes the bytes and query of a request for its Idempotency-Key', async () => {
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

  describe('endpoints without a key', () => {
    it('answers /healthz with exactly the documented body', async () => {
      const answer = await get('/healthz', {});
      assert.equal(answer.status, 200);
      assert.deepEqual(await answer.json(), { status: 'ok', service: 'service-api', version: '0.2.0' });
      assert.equal((await fetch(`${service.url}/healthz`, { method: 'HEAD' })).status, 200);
    });

    it('answers /readyz with the checks that fail', async () => {
      ready = false;
      const not = await get('/readyz', {});
      assert.equal(not.status, 503);
      assert.equal(not.headers.get('retry-after'), '1');
      assert.deepEqual(await not.json(), {
        status: 'not-ready',
        checks: [{ name: 'projections', ready: false, detail: 'rebuilding' }],
      });
      ready = true;
      await eventually(async () => (await get('/readyz', {})).status === 200, 'it is ready');
    });

    it('checks the parts a few times for many requests of /readyz at the same time', async () => {
      const before = readinessChecks;
      const began = performance.now();
      const answers = await Promise.all(Array.from({ length: 1_000 }, () => get('/readyz', {})));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      // In each tenth of a second fifty get checks of their own, and a busy machine needs several.
      const maxChecks = 50 * (1 + Math.ceil((performance.now() - began) / 100));
      assert.ok(readinessChecks - before <= maxChecks, `${readinessChecks - before} checks of ${maxChecks}`);
    });

    it('counts requests in /metrics by operation and never by path', async () => {
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

    it('serves /docs from the package only, with a policy that allows no other origin', async () => {
      const page = await get('/docs', {});
      const html = await page.text();
      assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/);
      assert.doesNotMatch(html, /https?:\/\//);
      const parts = [...html.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path]) => path ?? '');
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

    it('redirects a browser from / to /docs, and answers everything else there with 401', async () => {
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

    it('describes every failure code in /docs/problems', async () => {
      const html = await (await get('/docs/problems', {})).text();
      for (const code of Object.keys(failures)) assert.match(html, new RegExp(`id="${code}"`));
    });

    it('describes every operation in /openapi.json', async () => {
      const document = (await (await get('/openapi.json', {})).json()) as {
        info: object;
        paths: Record<string, object>;
      };
      assert.deepEqual(Object.keys(document.paths[`/v1/widgets/{widgetId}`] ?? {}).sort(), ['delete', 'get', 'patch']);
    });
  });

  describe('request log', () => {
    it('logs each request in one line without keys, bodies or query values', async () => {
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
        path: '/v1/projects/{projectId}/widgets',
        operation: 'list_widgets',
        status: 200,
        keyId: 'ckey000001',
        msg: 'request',
      });
      assert.equal(typeof ms, 'number');
      assert.equal(typeof requestId, 'string');
    });

    it('states the time in ISO 8601', async () => {
      await get(list);
      const { time } = JSON.parse(service.logged().trimEnd().split('\n').at(-1) ?? '') as { time: string };
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000);
    });

    it('names the error code of a refusal', async () => {
      await get('/v1/widgets/x');
      await get('/v1/nothing/here');
      const lines = service.logged().trimEnd().split('\n').slice(-2);
      assert.deepEqual(
        lines
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .map(({ path, code, status }) => [path, code, status]),
        [
          ['/v1/widgets/{widgetId}', 'flow-not-found', 404],
          [null, 'path-not-found', 404],
        ],
      );
    });

    /** Asks for a failure. @returns the status */
    const fail = async (how: string) => {
      const answer = await fetch(`${service.url}/v1/widgets/${widgetId}/break/${how}`, { method: 'PUT', headers });
      await answer.arrayBuffer();
      return answer.status;
    };
    const linesSince = (from: number) => {
      const lines = service.logged().trimEnd().split('\n').slice(from);
      return lines.map((line) => JSON.parse(line) as { msg: string; code?: string; repeated?: number });
    };

    it('logs the requests that an outage refuses in one line a second, with their number', async () => {
      const before = linesSince(0).length;
      const statuses = await Promise.all(Array.from({ length: 20 }, () => fail('outage')));
      assert.ok(statuses.every((status) => status === 503));
      const count = () => linesSince(before).reduce((sum, { repeated = 1 }) => sum + repeated, 0);
      await eventually(() => count() === 20);
      const lines = linesSince(before);
      assert.ok(lines.length < 10, JSON.stringify(lines));
      assert.ok(lines.every(({ msg, code }) => msg === 'request' && code === 'unavailable'));
    });

    it('logs a request that a busy store refuses in a line of its own, next to the reason', async () => {
      const before = linesSince(0).length;
      await Promise.all([fail('unavailable'), fail('unavailable')]);
      await eventually(() => linesSince(before).length === 4);
      assert.deepEqual(
        linesSince(before)
          .map(({ msg }) => msg)
          .sort(),
        ['request', 'request', 'unavailable', 'unavailable'],
      );
    });

    it('omits the requests that machines send every few seconds', async () => {
      const before = service.logged();
      for (const path of ['/healthz', '/readyz', '/metrics']) await get(path, {});
      assert.equal(service.logged(), before);
    });
  });

  it('serves only the operations of the node’s planes, and health and metrics on every node', async () => {
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
