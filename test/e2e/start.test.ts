import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { noStream } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { freePort } from '#test/support/run/free-port.ts';
import {
  adminKey,
  ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
  until,
} from '#test/support/service/service-process.ts';
import { expectProblem, expectStatus } from './support/expect.ts';

const keyForm = /sy_live_[A-Za-z0-9]+/g;
/** A refused start takes a moment; this says no more than that it does not hang. */
const quicklyMilliseconds = 60_000;

describe('starting', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  const started: ServiceProcess[] = [];

  beforeEach(() => {
    folder = temporaryFolder();
  });

  afterEach(async () => {
    for (const service of started.splice(0)) await service.kill();
    folder.remove();
  });

  const start = async (environment: Readonly<Record<string, string | undefined>> = {}) => {
    const service = await startService({ dataDir: folder.path, environment });
    started.push(service);
    return service;
  };

  /** Starts what must not start. @returns its one line on standard error */
  const refusal = async (environment: Readonly<Record<string, string | undefined>>, dataDir = folder.path) => {
    const service = new ServiceProcess({ dataDir, environment });
    started.push(service);
    const { code, milliseconds } = await service.ended();
    assert.equal(code, 1, service.stderr);
    assert.ok(milliseconds < quicklyMilliseconds, `it took ${milliseconds} ms`);
    assert.match(service.stderr, /^switchyard: [^\n]+\n$/);
    assert.doesNotMatch(service.stdout + service.stderr, keyForm);
    return service.stderr;
  };

  it('for the first time prints one key, once, and that key works; the second prints none', async () => {
    const first = await start({ BOOTSTRAP_API_KEY: undefined, LOG_LEVEL: 'info' });
    const keys = first.stdout.match(keyForm) ?? [];
    assert.equal(keys.length, 1, first.stdout);
    const [key = ''] = keys;
    assert.match(key, /^sy_live_[A-Za-z0-9]{40,}$/);
    const me = expectStatus(await first.client.as(key).get('/v1/me'), 200);
    assert.equal(me.keyType, 'admin');
    const { organizations } = expectStatus(
      await first.client.as(key).get<{ organizations: Array<{ partner: boolean }> }>('/v1/organizations'),
      200,
    );
    assert.deepEqual(
      organizations.map(({ partner }) => partner),
      [true],
    );
    assert.equal((await first.stop()).code, 0);
    const second = await start({ BOOTSTRAP_API_KEY: undefined, LOG_LEVEL: 'info' });
    assert.deepEqual(expectStatus(await second.client.as(key).get('/v1/me'), 200), me);
    assert.doesNotMatch(second.stdout + second.stderr, keyForm);
  });

  it('takes the key that it is given without printing it, on an empty store only', async () => {
    const first = await start({ LOG_LEVEL: 'info' });
    expectStatus(await first.client.get('/v1/me'), 200);
    assert.doesNotMatch(first.stdout + first.stderr, keyForm);
    await first.stop();
    const other = `sy_live_${'ZYXW9876'.repeat(4)}`;
    const second = await start({ BOOTSTRAP_API_KEY: other });
    expectStatus(await second.client.as(adminKey).get('/v1/me'), 200);
    expectProblem(await second.client.as(other).get('/v1/me'), 401, 'key-invalid');
  });

  it('does not bring back a first key that was rotated or revoked', async () => {
    const first = await start();
    const me = expectStatus(await first.client.get('/v1/me'), 200);
    const path = `/v1/keys/${me.apiKeyId}`;
    const { key } = expectStatus(await first.client.post<{ key: string }>(`${path}/rotate`), 200);
    await first.kill();
    const second = await start();
    expectProblem(await second.client.as(adminKey).get('/v1/me'), 401, 'key-invalid');
    expectStatus(await second.client.as(key).remove(path), 200);
    await second.kill();
    const third = await start({ LOG_LEVEL: 'info' });
    for (const old of [adminKey, key]) expectProblem(await third.client.as(old).get('/v1/me'), 401, 'key-invalid');
    assert.doesNotMatch(third.stdout + third.stderr, keyForm);
  });

  it('that is cut off by kill -9 at any moment leaves one organization, one project and one key that was told', async () => {
    let told = '';
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const service = new ServiceProcess({ dataDir: folder.path, environment: { BOOTSTRAP_API_KEY: undefined } });
      started.push(service);
      await sleep(150 + attempt * 60);
      await service.kill();
      told += service.stdout;
    }
    const last = await start({ BOOTSTRAP_API_KEY: undefined });
    told += last.stdout;
    const answers = await Promise.all(
      (told.match(keyForm) ?? []).map(async (key) => ({ key, ...(await last.client.as(key).get('/v1/me')) })),
    );
    const working = answers.filter(({ status }) => status === 200);
    assert.equal(working.length, 1);
    const client = last.client.as(working[0]?.key ?? null);
    const { projects } = expectStatus(await client.get<{ projects: Array<{ id: string }> }>('/v1/projects'), 200);
    assert.equal(projects.length, 1);
    const { keys } = expectStatus(await client.get<{ keys: unknown[] }>(`/v1/projects/${projects[0]?.id}/keys`), 200);
    assert.equal(keys.length, 1);
  });

  it('stops with 0 at SIGTERM while it still waits for a store', async () => {
    const nowhere = `esdb://127.0.0.1:${await freePort()}?tls=false`;
    const service = new ServiceProcess({ dataDir: folder.path, environment: { EVENT_STORE_URL: nowhere } });
    started.push(service);
    assert.ok((await until(async () => existsSync(join(folder.path, 'owner.json')), 60_000)) !== null);
    const { code, milliseconds } = await service.stop();
    assert.deepEqual([code, service.stderr], [0, '']);
    assert.ok(milliseconds < quicklyMilliseconds, `it took ${milliseconds} ms`);
  });

  it('stops at a wrong variable, naming it', async () => {
    for (const [name, value] of [
      ['PORT', 'http'],
      ['PORT', '70000'],
      ['PORT', '-1'],
      ['LOG_LEVEL', 'loud'],
      ['ROLES', 'gateway'],
      ['ROLES', 'everything'],
      ['EVENT_STORE_URL', 'esdb://admin:changeit@localhost?nonsense=1'],
      ['READ_STORE_URL', 'nonsense'],
      ['READ_STORE_URL', 'mongodb://admin:changeit@localhost/?nonsense=1'],
      ['READ_STORE_URL', 'mongodb://admin:change@it@localhost'],
      ['BLOB_STORE_URL', 'gridfs'],
      ['MAX_BODY_BYTES', 'many'],
      ['MAX_APPEND_BYTES', '4095'],
      ['MAX_FILLED_BYTES', '1023'],
    ] as const) {
      const line = await refusal({ [name]: value });
      assert.ok(line.includes(name), line);
      assert.ok(!/change.?it/.test(line), line);
    }
  });

  it('starts with the least that a size may be', async () => {
    const service = await start({ MAX_APPEND_BYTES: '4096', MAX_BODY_BYTES: '1024', MAX_HEADER_BYTES: '1024' });
    expectStatus(await service.client.get('/v1/me'), 200);
  });

  it('stops at a bad BOOTSTRAP_API_KEY, without showing it, and says how to make one', async () => {
    for (const value of [
      'secret-one',
      `sy_live_${'short'}`,
      `sy_live_${'x'.repeat(31)}`,
      `sy_live_${'-'.repeat(40)}`,
      `sy_live_${'x'.repeat(32)}`,
      adminKey.padEnd(257, 'abcdefgh12'),
    ]) {
      const line = await refusal({ BOOTSTRAP_API_KEY: value });
      assert.match(line, /BOOTSTRAP_API_KEY.*npm run keys -- generate/);
      assert.ok(!line.includes(value), line);
    }
  });

  it('stops at an address in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      const line = await refusal({ PORT: String(port) });
      assert.ok(line.includes(String(port)) && line.includes('PORT'), line);
    } finally {
      server.close();
    }
    const service = await start();
    expectStatus(await service.client.get('/v1/me'), 200);
  });

  it('stops at a folder that a running process owns, naming both, and leaves that one alone', async () => {
    const owner = await start();
    const line = await refusal({});
    assert.ok(line.includes(folder.path) && line.includes(String(owner.pid)), line);
    expectStatus(await owner.client.get('/v1/me'), 200);
  });

  it('stops at an event or read store file that a service with another folder has, naming file and process', async () => {
    const stores = temporaryFolder();
    const link = join(stores.path, 'link.db');
    try {
      for (const name of ['EVENT_STORE_URL', 'READ_STORE_URL']) {
        const file = join(stores.path, `${name}.db`);
        const owner = await start({ [name]: `sqlite:${file}` });
        const other = temporaryFolder();
        symlinkSync(file, link);
        for (const path of [file, link]) {
          const line = await refusal({ [name]: `sqlite:${path}` }, other.path);
          assert.ok(line.includes(`${path} is in use by process ${owner.pid}`) && line.includes(name), line);
        }
        other.remove();
        rmSync(link);
        expectStatus(await owner.client.get('/v1/me'), 200);
        await owner.kill();
        const next = await start({ [name]: `sqlite:${file}` });
        await next.stop();
      }
    } finally {
      stores.remove();
    }
  });

  it('stops at the event file in the folder of a running service that was not named to it', async () => {
    const owner = await start();
    const other = temporaryFolder();
    try {
      const line = await refusal({ EVENT_STORE_URL: `sqlite:${join(folder.path, 'events.db')}` }, other.path);
      assert.ok(line.includes(`in use by process ${owner.pid}`), line);
    } finally {
      other.remove();
    }
  });

  it('stops at an event file that is no SQLite file, another’s, cut short or overwritten', async () => {
    const path = join(folder.path, 'events.db');
    writeFileSync(path, 'these are no events'.repeat(1_000));
    assert.ok((await refusal({})).includes(path));

    const foreign = temporaryFolder();
    const foreignPath = join(foreign.path, 'events.db');
    const database = new DatabaseSync(foreignPath);
    database.exec('CREATE TABLE customers (name TEXT)');
    database.close();
    try {
      assert.ok((await refusal({}, foreign.path)).includes(foreignPath));
    } finally {
      foreign.remove();
    }

    const cut = temporaryFolder();
    try {
      const service = await startService({ dataDir: cut.path });
      for (let index = 0; index < 30; index += 1) {
        expectStatus(await service.client.post('/v1/organizations', { name: 'O'.repeat(200), partner: true }), 201);
      }
      await service.stop();
      truncateSync(join(cut.path, 'events.db'), 8_192);
      assert.ok((await refusal({}, cut.path)).includes(join(cut.path, 'events.db')));
    } finally {
      cut.remove();
    }
  });

  it('stops at a folder that cannot be one', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    assert.ok((await refusal({}, file)).includes(file));
    mkdirSync(join(folder.path, 'data', 'events.db'), { recursive: true });
    assert.match(await refusal({}, join(folder.path, 'data')), /events\.db/);
  });

  it('begins the read models anew where their file is damaged or gone', async () => {
    const first = await start();
    const { id } = expectStatus(await first.client.post<{ id: string }>('/v1/projects', { name: 'Kept' }), 201);
    await first.stop();
    writeFileSync(join(folder.path, 'read.db'), 'no read models'.repeat(1_000));
    const second = await start();
    expectStatus(await second.client.get(`/v1/projects/${id}`), 200);
  });

  it('warns where the log has lost the keys of its personal data, and not where it begins with them', async () => {
    const warning = 'no keys of personal data';
    const first = await start({ LOG_LEVEL: 'warn' });
    await first.stop();
    assert.ok(!first.stdout.includes(warning), first.stdout);
    for (const ending of ['', '-wal', '-shm']) rmSync(join(folder.path, `subject-keys.db${ending}`), { force: true });
    const second = await start({ LOG_LEVEL: 'warn' });
    await second.stop();
    assert.ok(second.stdout.includes(warning), second.stdout);
  });

  it('says 503 while a long log fills the read models, never that a key or a resource is not there', async () => {
    const first = await start();
    const { projectId } = expectStatus(await first.client.get('/v1/me'), 200);
    const made = await first.client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, {
      name: 'F',
      flowSchema: 1,
    });
    const path = `/v1/flows/${expectStatus(made, 201).id}`;
    await first.stop();
    await lengthenLog(folder.path, made.body.id, 250_000);
    for (const ending of ['', '-wal', '-shm']) rmSync(join(folder.path, `read.db${ending}`), { force: true });

    const second = new ServiceProcess({ dataDir: folder.path, environment: {} });
    started.push(second);
    const seen = new Set<number>();
    let ready = false;
    while (!ready) {
      const client = await second.announced();
      ready = (await client.get('/readyz')).status === 200;
      for (const reply of [await client.get('/v1/me'), await client.get(path), await client.patch(path, {})]) {
        seen.add(reply.status);
        if (ready) expectStatus(reply, 200);
        else if (reply.status !== 200) expectProblem(reply, 503, 'unavailable');
      }
    }
    assert.ok(seen.has(200));
  });

  it('tells no secret in its log, at the lowest level', async () => {
    const service = await start({ LOG_LEVEL: 'trace' });
    const { client } = service;
    const me = expectStatus(await client.get('/v1/me'), 200);
    const path = `/v1/projects/${me.projectId}`;
    const made = expectStatus(
      await client.post<{ id: string; key: string }>(`${path}/keys`, { name: 'K', keyType: 'project' }),
      201,
    );
    const rotated = expectStatus(await client.post<{ key: string }>(`/v1/keys/${made.id}/rotate`), 200);
    const secret = 'a-secret-in-a-schema';
    expectStatus(await client.post(`${path}/flows`, { name: secret, flowSchema: { secret } }), 201);
    expectProblem(await client.post(`${path}/flows`, { flowSchema: { secret } }), 422, 'invalid-input', ['/name']);
    expectProblem(await client.get(`/v1/flows/${secret}?token=${secret}`), 404, 'flow-not-found');
    const wrong = `sy_live_${'wrong0'.repeat(8)}`;
    expectProblem(await client.as(wrong).get('/v1/me'), 401, 'key-invalid');
    expectProblem(await client.as(null).get('/v1/me', { 'x-api-key': wrong }), 401, 'key-invalid');
    assert.equal((await service.stop()).code, 0);
    const written = service.stdout + service.stderr;
    assert.ok(written.includes('introspect_key'), 'requests are logged');
    for (const text of [adminKey, made.key, rotated.key, wrong, secret, 'sy_live_']) {
      assert.ok(!written.includes(text), `${text} is in the log`);
    }
  });
});

/** Adds so many events of flows that a read model takes in, each like the first of a flow that is there. */
async function lengthenLog(dataDir: string, flowId: string, count: number): Promise<void> {
  const eventsOfAppend = 1_000;
  const store = await openSqliteEventStore({ file: join(dataDir, 'events.db') });
  try {
    const [first] = store.readRaw(`flow-${flowId}`, 0, 1);
    assert.ok(first);
    for (let added = 0; added < count; added += eventsOfAppend) {
      const events = Array.from({ length: eventsOfAppend }, (_, index) => ({
        id: `${added + index}`,
        type: first.type,
        data: first.data.replaceAll(flowId, `cadded${added + index}`),
        metadata: first.metadata,
      }));
      const appended = await store.append(`flow-cadded${added}`, noStream, events)();
      assert.ok(E.isRight(appended), JSON.stringify(appended));
    }
  } finally {
    await store.close();
  }
}
