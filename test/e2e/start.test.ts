import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as E from 'fp-ts/lib/Either.js';
import { compose } from '#app/compose.ts';
import { readConfig } from '#app/config.ts';
import { noStream } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { compileCache } from '#test/support/run/compile-cache.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { long } from '#test/support/run/long.ts';
import {
  adminKey,
  poll,
  ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { expectProblem, expectStatus } from './support/expect.ts';

const keyForm = /sy_live_[A-Za-z0-9]+/g;
/** Far longer than a refused start takes; it only keeps a test from hanging. */
const maxStopMs = 60_000;
const ignored = () => undefined;
const quiet = { debug: ignored, info: ignored, warn: ignored, error: ignored };

describe('start of the service', function () {
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

  /** Starts a process that must refuse to start. @returns its one line on standard error */
  const refusalOfProcess = async (environment: Readonly<Record<string, string | undefined>>) => {
    const service = new ServiceProcess({ dataDir: folder.path, environment });
    started.push(service);
    const { code, milliseconds } = await service.ended();
    assert.equal(code, 1, service.stderr);
    assert.ok(milliseconds < maxStopMs, `it took ${milliseconds} ms`);
    assert.match(service.stderr, /^switchyard: [^\n]+\n$/);
    assert.doesNotMatch(service.stdout + service.stderr, keyForm);
    return service.stderr;
  };

  /** Composes a service in this process, which must refuse to start. @returns the line that a process would print */
  const refusal = async (environment: Readonly<Record<string, string>>, dataDir = folder.path) => {
    const config = async () => readConfig({ DATA_DIR: dataDir, BOOTSTRAP_API_KEY: adminKey, ...environment });
    const options = { log: quiet, printAdminKey: assert.fail, onFatal: assert.fail };
    const refused = await config()
      .then((given) => compose(given, options))
      .then(
        (service) => service.close().then(() => assert.fail('the service was started')),
        (error: unknown) => error,
      );
    assert.ok(refused instanceof StartupError, String(refused));
    assert.doesNotMatch(refused.message, /\n/);
    return refused.message;
  };

  it('prints one working key at the first start, and none at the second', async () => {
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

  const logLines = ({ stdout }: ServiceProcess) =>
    stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('logs in one line what runs where, and names a misspelt variable', async () => {
    const service = await start({ LOG_LEVEL: 'info', REQUEST_PER_MINUTE: '5' });
    assert.ok(await poll(async () => service.stdout.includes('"msg":"listening"'), 20_000));
    const read = logLines(service);
    const line = read.find(({ msg }) => msg === 'listening');
    assert.equal(line?.docs, `${service.url}/docs`);
    assert.match(String(line?.version), /^\d+\.\d+\.\d+(\+[0-9a-f]{7})?$/);
    assert.deepEqual(line?.roles, ['control-plane', 'gateway', 'projections']);
    assert.equal(line?.eventStore, `sqlite:${join(folder.path, 'events.db')}`);
    assert.equal(line?.readStore, `sqlite:${join(folder.path, 'read.db')}`);
    assert.deepEqual(line?.models, ['sandbox']);
    const warning = read.find(({ variable }) => variable !== undefined);
    assert.deepEqual([warning?.variable, warning?.resembles], ['REQUEST_PER_MINUTE', 'REQUESTS_PER_MINUTE']);
  });

  it(`fills missing read models without an error in its log, and logs that once ${long}`, async () => {
    const flows = 200;
    const first = await start();
    const { projectId } = expectStatus(await first.client.get('/v1/me'), 200);
    const create = () => first.client.post(`/v1/projects/${projectId}/flows`, { name: 'F', flowSchema: {} });
    for (const reply of await Promise.all(Array.from({ length: flows }, create))) expectStatus(reply, 201);
    await first.stop();
    // The positions of the processes are removed too, so that processes and read models begin together.
    const kept = readdirSync(folder.path).filter((name) => /^(read|processes)\.db/.test(name));
    for (const name of kept) rmSync(join(folder.path, name), { force: true });
    const second = await start({ LOG_LEVEL: 'info' });
    const isSaid = (msg: string) => second.stdout.includes(`"msg":"${msg}"`);
    assert.ok(await poll(async () => isSaid('Read models are built') && isSaid('listening'), maxStopMs));
    const read = logLines(second);
    assert.deepEqual(
      read.filter(({ level, err }) => level === 'error' || err !== undefined),
      [],
    );
    for (const once of ['Read models are being built', 'Read models are built', 'listening'])
      assert.equal(read.filter(({ msg }) => msg === once).length, 1, once);
  });

  it('serves its pages and compares large versions with the flags of npm start, which its threads must accept', async () => {
    const service = await start();
    for (const path of ['/dashboard', '/docs']) {
      const answer = await fetch(service.url + path);
      assert.equal(answer.status, 200, `${path}: ${await answer.text()}`);
    }
    const { client } = service;
    const { body: project } = await client.post<{ id: string }>('/v1/projects', { name: 'Compares' });
    const flow = { name: 'Large', type: 'graph', flowSchema: {} };
    const { body: made } = await client.post<{ id: string }>(`/v1/projects/${project.id}/flows`, flow);
    const versions = ['a', 'b'].map(async (letter) => {
      const flowSchema = { nodes: Array.from({ length: 800 }, (_, id) => ({ id, say: letter.repeat(100) })) };
      const reply = await client.post<{ id: string }>(`/v1/flows/${made.id}/versions`, { flowSchema });
      expectStatus(reply, 201);
      return reply.body.id;
    });
    const [first, second] = await Promise.all(versions);
    expectStatus(await client.get(`/v1/flow-versions/${first}/diff/${second}`), 200);
  });

  it('shows its usage for --help without starting anything, and names an unknown argument', async () => {
    const main = join(import.meta.dirname, '../../src/main.ts');
    const run = promisify(execFile);
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, DATA_DIR: join(folder.path, 'data') };
    const help = await run(process.execPath, [main, '--help'], { env });
    assert.match(help.stdout, /^Usage: npm start\n/);
    await assert.rejects(run(process.execPath, [main, '--port', '80'], { env }), (error: unknown) => {
      const { code, stderr } = error as { code: number; stderr: string };
      return (
        code === 1 && /^switchyard: It takes no arguments, and does not understand "--port": [^\n]+\n$/.test(stderr)
      );
    });
    assert.equal(existsSync(env.DATA_DIR), false);
  });

  it(`uses a given bootstrap key without printing it, on an empty store only ${long}`, async () => {
    const first = await start({ LOG_LEVEL: 'info' });
    expectStatus(await first.client.get('/v1/me'), 200);
    assert.doesNotMatch(first.stdout + first.stderr, keyForm);
    await first.stop();
    const other = `sy_live_${'ZYXW9876'.repeat(4)}`;
    const second = await start({ BOOTSTRAP_API_KEY: other });
    expectStatus(await second.client.as(adminKey).get('/v1/me'), 200);
    expectProblem(await second.client.as(other).get('/v1/me'), 401, 'key-invalid');
  });

  it(`does not restore a bootstrap key that was rotated or revoked ${long}`, async () => {
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

  it(`leaves one organization, one project and one printed key after kill -9 during the first start ${long}`, async () => {
    let printed = '';
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const service = new ServiceProcess({ dataDir: folder.path, environment: { BOOTSTRAP_API_KEY: undefined } });
      started.push(service);
      await sleep(150 + attempt * 100);
      await service.kill();
      printed += service.stdout;
    }
    const last = await start({ BOOTSTRAP_API_KEY: undefined });
    printed += last.stdout;
    const answers = await Promise.all(
      (printed.match(keyForm) ?? []).map(async (key) => ({ key, ...(await last.client.as(key).get('/v1/me')) })),
    );
    const working = answers.filter(({ status }) => status === 200);
    assert.equal(working.length, 1);
    const client = last.client.as(working[0]?.key ?? null);
    const { projects } = expectStatus(await client.get<{ projects: Array<{ id: string }> }>('/v1/projects'), 200);
    assert.equal(projects.length, 1);
    const { keys } = expectStatus(await client.get<{ keys: unknown[] }>(`/v1/projects/${projects[0]?.id}/keys`), 200);
    assert.equal(keys.length, 1);
  });

  it('answers 503 while it waits for a store, and exits with 0 on SIGTERM meanwhile', async () => {
    const unusedAddress = `esdb://127.0.0.1:${await freePort()}?tls=false`;
    const port = String(await freePort());
    const environment = { EVENT_STORE_URL: unusedAddress, PORT: port };
    const service = new ServiceProcess({ dataDir: folder.path, environment });
    started.push(service);
    const status = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        (response) => response.status,
        () => null,
      );
    assert.equal(await poll(status, 60_000), 503);
    const { code, milliseconds } = await service.stop();
    assert.deepEqual([code, service.stderr], [0, '']);
    assert.ok(milliseconds < maxStopMs, `it took ${milliseconds} ms`);
  });

  it('names an invalid variable in its refusal to start', async () => {
    for (const [name, value] of [
      ['PORT', 'http'],
      ['EVENT_STORE_URL', 'esdb://admin:changeit@localhost?nonsense=1'],
      ['READ_STORE_URL', 'mongodb://admin:changeit@localhost/?nonsense=1'],
      ['READ_STORE_URL', 'mongodb://admin:change@it@localhost'],
    ] as const) {
      const line = await refusal({ [name]: value });
      assert.ok(line.includes(name), line);
      assert.ok(!/change.?it/.test(line), line);
    }
  });

  it(`starts with the smallest allowed sizes ${long}`, async () => {
    const service = await start({ MAX_APPEND_BYTES: '4096', MAX_BODY_BYTES: '1024', MAX_HEADER_BYTES: '1024' });
    expectStatus(await service.client.get('/v1/me'), 200);
  });

  it('refuses an invalid BOOTSTRAP_API_KEY without printing it, with instructions', async () => {
    const value = `sy_live_${'x'.repeat(32)}`;
    const line = await refusal({ BOOTSTRAP_API_KEY: value });
    assert.match(line, /BOOTSTRAP_API_KEY.*npm run keys -- generate/);
    assert.ok(!line.includes(value), line);
  });

  it('refuses an address in use before it prints a key or creates a file', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      for (const variable of ['PORT', 'METRICS_PORT']) {
        const line = await refusalOfProcess({ [variable]: String(port), BOOTSTRAP_API_KEY: undefined });
        assert.ok(line.includes(String(port)) && line.includes(variable), line);
        assert.deepEqual(readdirSync(folder.path), []);
      }
    } finally {
      server.close();
    }
  });

  it('refuses a configuration of the gateway before it prints a key or opens a store', async () => {
    const line = await refusal({ GATEWAY_CONFIG: 'no-such-file.json', BOOTSTRAP_API_KEY: '' });
    assert.match(line, /GATEWAY_CONFIG=no-such-file\.json: the file cannot be read/);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  it('refuses a data folder of a running process, and an event file in it, by path and process id', async () => {
    const owner = await start();
    const line = await refusal({});
    assert.ok(line.includes(folder.path) && line.includes(String(owner.pid)), line);
    const other = temporaryFolder();
    try {
      const refused = await refusal({ EVENT_STORE_URL: `sqlite:${join(folder.path, 'events.db')}` }, other.path);
      assert.ok(refused.includes(`in use by process ${owner.pid}`), refused);
    } finally {
      other.remove();
    }
    expectStatus(await owner.client.get('/v1/me'), 200);
  });

  it(`refuses an event or read store file that another service uses, by path and process id ${long}`, async () => {
    const stores = temporaryFolder();
    const names = ['EVENT_STORE_URL', 'READ_STORE_URL'] as const;
    const fileOf = (name: string) => join(stores.path, `${name}.db`);
    const environment = Object.fromEntries(names.map((name) => [name, `sqlite:${fileOf(name)}`]));
    try {
      const owner = await start(environment);
      for (const name of names) {
        const other = temporaryFolder();
        const link = join(stores.path, `link to ${name}.db`);
        symlinkSync(fileOf(name), link);
        for (const path of [fileOf(name), link]) {
          const line = await refusal({ [name]: `sqlite:${path}` }, other.path);
          assert.ok(line.includes(`${path} is in use by process ${owner.pid}`) && line.includes(name), line);
        }
        other.remove();
      }
      expectStatus(await owner.client.get('/v1/me'), 200);
      await owner.kill();
      await start(environment);
    } finally {
      stores.remove();
    }
  });

  it(`refuses an event file that is not SQLite, belongs to another program, or is truncated or overwritten ${long}`, async () => {
    const path = join(folder.path, 'events.db');
    writeFileSync(path, 'these are not events'.repeat(1_000));
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

  it('refuses a path that cannot be a data folder', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    assert.ok((await refusal({}, file)).includes(file));
    mkdirSync(join(folder.path, 'data', 'events.db'), { recursive: true });
    assert.match(await refusal({}, join(folder.path, 'data')), /events\.db/);
  });

  it(`rebuilds a damaged read store, and warns when the keys of personal data are lost ${long}`, async () => {
    const warning = 'no keys of personal data';
    const first = await start({ LOG_LEVEL: 'warn' });
    const { id } = expectStatus(await first.client.post<{ id: string }>('/v1/projects', { name: 'Kept' }), 201);
    await first.stop();
    assert.ok(!first.stdout.includes(warning), first.stdout);
    writeFileSync(join(folder.path, 'read.db'), 'no read models'.repeat(1_000));
    for (const ending of ['', '-wal', '-shm']) rmSync(join(folder.path, `subject-keys.db${ending}`), { force: true });
    const second = await start({ LOG_LEVEL: 'warn' });
    expectStatus(await second.client.get(`/v1/projects/${id}`), 200);
    await second.stop();
    assert.ok(second.stdout.includes(warning), second.stdout);
  });

  /** Fills the read models from a log of this many events, and sends requests meanwhile. */
  const fillFrom = async (events: number) => {
    const first = await start();
    const { projectId } = expectStatus(await first.client.get('/v1/me'), 200);
    const made = await first.client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, {
      name: 'F',
      flowSchema: 1,
    });
    const path = `/v1/flows/${expectStatus(made, 201).id}`;
    await first.stop();
    await lengthenLog(folder.path, made.body.id, events);
    for (const ending of ['', '-wal', '-shm']) rmSync(join(folder.path, `read.db${ending}`), { force: true });

    const second = new ServiceProcess({ dataDir: folder.path, environment: { READ_YOUR_WRITES_TIMEOUT_MS: '1' } });
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
    assert.deepEqual([...seen].sort(), [200, 503]);
  };

  it(`answers 503 while a log of 250,000 events fills the read models, never 401 or 404 ${long}`, () =>
    fillFrom(250_000));

  it('logs no secret at the lowest log level', async () => {
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

/** Appends copies of a flow's first event, each with the id of a new flow. */
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
      const appended = await store.append(`flow-cadded${added}`, noStream, events);
      assert.ok(E.isRight(appended), JSON.stringify(appended));
    }
  } finally {
    await store.close();
  }
}
