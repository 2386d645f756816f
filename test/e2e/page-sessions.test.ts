import assert from 'node:assert/strict';
import { serviceOfProject } from '#test/e2e/support/running-service.ts';
import { newKey } from '#test/e2e/support/tenants.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { composeService } from '#test/support/service/service-in-process.ts';
import { adminKey, poll, temporaryFolder } from '#test/support/service/service-process.ts';

type Headers = Readonly<Record<string, string>>;

const settleTimeoutMs = 60_000;
const ofPage: Headers = { 'switchyard-session': '1' };

describeOnEngines('sessions of the dashboard', (engines) => {
  const service = serviceOfProject(engines);
  let projectId: string;

  before(async () => {
    projectId = (await service.client.get<{ projectId: string }>('/v1/me')).body.projectId;
  });

  const signIn = (key: string, headers: Headers = ofPage) =>
    fetch(`${service.url}/dashboard/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
  /** The cookie of a new session. */
  const cookieOf = async (key: string): Promise<string> => {
    const answer = await signIn(key);
    assert.deepEqual([answer.status, await answer.json()], [200, { isKept: true }]);
    return answer.headers.get('set-cookie')?.split(';')[0] ?? assert.fail('there is no cookie');
  };
  const ask = (path: string, headers: Headers, method = 'GET') => fetch(`${service.url}${path}`, { method, headers });
  const statusWith = async (cookie: string, headers: Headers = ofPage) =>
    (await ask('/v1/me', { cookie, ...headers })).status;

  it('answer what their key may read, and change what it may change', async () => {
    const cookie = await cookieOf(adminKey);
    const me = await ask('/v1/me', { cookie, ...ofPage });
    assert.equal(((await me.json()) as { keyType: string }).keyType, 'admin');
    const made = await fetch(`${service.url}/v1/projects`, {
      method: 'POST',
      headers: { cookie, ...ofPage, origin: service.url, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'By a session' }),
    });
    assert.equal(made.status, 201);
  });

  it('do not begin without a valid key, and not for a request that is not of the page', async () => {
    assert.equal((await signIn(`sy_live_${'z9'.repeat(20)}`)).status, 401);
    assert.equal((await ask('/dashboard/session', ofPage, 'POST')).status, 401);
    for (const headers of [{}, { ...ofPage, origin: 'http://evil.example' }]) {
      const answer = await signIn(adminKey, headers as Headers);
      assert.deepEqual([await answer.json(), answer.headers.get('set-cookie')], [{ isKept: false }, null]);
    }
  });

  it('do not count for a link, a form, an image or a page of another origin', async () => {
    const cookie = await cookieOf(adminKey);
    assert.equal(await statusWith(cookie, {}), 401);
    assert.equal(await statusWith(cookie, { ...ofPage, origin: 'http://evil.example' }), 401);
    assert.equal(await statusWith(cookie, { ...ofPage, 'sec-fetch-site': 'cross-site' }), 401);
    const form = await fetch(`${service.url}/v1/projects`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'name=Forged',
    });
    assert.equal(form.status, 401);
  });

  it('never count for MCP, and less than a key in a header', async () => {
    const cookie = await cookieOf(adminKey);
    const headers = { cookie, ...ofPage, 'content-type': 'application/json', accept: 'application/json' };
    const mcp = await fetch(`${service.url}/mcp`, { method: 'POST', headers, body: '{}' });
    assert.equal(mcp.status, 401);
    assert.equal(await statusWith(cookie, { ...ofPage, authorization: `Bearer sy_live_${'z9'.repeat(20)}` }), 401);
    const { key, id } = await newKey(service.client, projectId, 'project');
    const me = await ask('/v1/me', { cookie, ...ofPage, 'x-api-key': key });
    assert.equal(((await me.json()) as { apiKeyId: string }).apiKeyId, id);
  });

  it('end when the page signs out', async () => {
    const [cookie, other] = [await cookieOf(adminKey), await cookieOf(adminKey)];
    const unasked = await ask('/dashboard/session', { cookie }, 'DELETE');
    assert.deepEqual([unasked.status, await statusWith(cookie)], [204, 200]);
    const answer = await ask('/dashboard/session', { cookie, ...ofPage }, 'DELETE');
    assert.deepEqual([answer.status, /Max-Age=0/.test(answer.headers.get('set-cookie') ?? '')], [204, true]);
    assert.deepEqual([await statusWith(cookie), await statusWith(other)], [401, 200]);
  });

  it('end within a second of the end of their secret: revoked, replaced or expired', async () => {
    const ended = async (cookie: string) => poll(async () => (await statusWith(cookie)) === 401, 3_000);
    const revoked = await newKey(service.client, projectId, 'project');
    const ofRevoked = await cookieOf(revoked.key);
    await service.client.remove(`/v1/keys/${revoked.id}`);
    assert.ok(await ended(ofRevoked));
    const rotated = await newKey(service.client, projectId, 'project');
    const ofRotated = await cookieOf(rotated.key);
    const answer = await service.client.post<{ key: string }>(`/v1/keys/${rotated.id}/rotate`, { overlapSeconds: 0 });
    assert.ok(answer.status < 300, answer.text);
    assert.ok(await ended(ofRotated));
    assert.equal(await statusWith(await cookieOf(answer.body.key)), 200);
    const expiring = await service.client.post<{ key: string }>(`/v1/projects/${projectId}/keys`, {
      name: 'Short',
      keyType: 'project',
      expiresAt: new Date(Date.now() + 1_500).toISOString(),
    });
    const ofExpiring = await cookieOf(expiring.body.key);
    assert.ok(await poll(async () => (await statusWith(ofExpiring)) === 401, settleTimeoutMs));
  });

  it('read the live feed, which ends with the session', async () => {
    const cookie = await cookieOf(adminKey);
    const feed = await fetch(`${service.url}/v1/events`, {
      headers: { cookie, ...ofPage, accept: 'text/event-stream' },
    });
    assert.equal(feed.status, 200);
    const ended = feed.text().then(() => true);
    const pause = new Promise((resolve) => setTimeout(() => resolve(false), 1_500));
    assert.equal(await Promise.race([ended, pause]), false, 'the feed ended early');
    await ask('/dashboard/session', { cookie, ...ofPage }, 'DELETE');
    const limit = new Promise((resolve) => setTimeout(() => resolve(false), settleTimeoutMs).unref());
    assert.equal(await Promise.race([ended, limit]), true);
  });

  it('are at most twenty of a key', async () => {
    const { key } = await newKey(service.client, projectId, 'project');
    const cookies: string[] = [];
    for (let index = 0; index < 21; index += 1) cookies.push(await cookieOf(key));
    const statuses = await Promise.all(cookies.map((cookie) => statusWith(cookie)));
    assert.deepEqual(statuses, [401, ...cookies.slice(1).map(() => 200)]);
  });
});

describe(`sessions of the dashboard ${long}`, function () {
  this.timeout(180_000);

  it('outlast a restart, and leave no token in the log or in the files', async () => {
    const folder = temporaryFolder();
    const start = (environment: Headers = {}) =>
      composeService({ dataDir: folder.path, environment: { LOG_LEVEL: 'debug', ...environment } });
    let service = await start();
    try {
      const answer = await fetch(`${service.url}/dashboard/session`, {
        method: 'POST',
        headers: { ...ofPage, authorization: `Bearer ${adminKey}` },
      });
      const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
      await service.stop();
      const token = cookie.split('=')[1] ?? '';
      assert.ok(token.length === 43 && !service.log.includes(token));
      service = await start();
      assert.equal((await fetch(`${service.url}/v1/me`, { headers: { ...ofPage, cookie } })).status, 200);
      await service.stop();
      service = await start({ PUBLIC_URL: 'https://switchyard.example.com' });
      assert.equal((await fetch(`${service.url}/v1/me`, { headers: { ...ofPage, cookie } })).status, 401);
      const secure = await fetch(`${service.url}/dashboard/session`, {
        method: 'POST',
        headers: { ...ofPage, authorization: `Bearer ${adminKey}`, origin: 'https://switchyard.example.com' },
      });
      assert.match(secure.headers.get('set-cookie') ?? '', /^__Host-switchyard-session=.*; Secure$/);
    } finally {
      await service.stop();
      folder.remove();
    }
  });
});
