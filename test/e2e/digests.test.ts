import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { verifyInThread } from '#app/verification/verify-in-thread.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { forgedStream } from '#test/support/events/sealed-log.ts';
import { long } from '#test/support/run/long.ts';
import { startEventsTool, type ToolExit, toolExit } from '#test/support/service/events-tool.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import {
  type ServiceEnvironment,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

const run = promisify(execFile);
const script = resolve(import.meta.dirname, '../../examples/audit/check-proof.mjs');

describe('signed digests of a service', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let service: ServiceInProcess;
  let environment: Record<string, string>;
  let flowId: string;
  const inFolder = (name: string) => join(folder.path, name);

  before(async () => {
    folder = temporaryFolder();
    const made = await toolExit(startEventsTool(['digest-key'], {}));
    writeFileSync(inFolder('key.pem'), made.stdout, { mode: 0o600 });
    environment = { DIGEST_SIGNING_KEY: inFolder('key.pem'), DIGEST_DIR: inFolder('outside') };
    writeFileSync(inFolder('public.pem'), (await events('digest-key', '--public')).stdout);
    service = await composeService({ dataDir: inFolder('data'), environment });
    const project = await service.client.post<{ id: string }>('/v1/projects', { name: 'Digests' });
    const created = await service.client.post<{ id: string }>(`/v1/projects/${project.body.id}/flows`, {
      name: 'Hours',
      flowSchema: { start: 'a' },
    });
    flowId = created.body.id;
    await service.client.patch(`/v1/flows/${flowId}`, { name: 'Opening hours' });
  });

  after(async () => {
    await service?.stop();
    folder.remove();
  });

  function events(...args: ReadonlyArray<string>): Promise<ToolExit> {
    return toolExit(startEventsTool(args, { DATA_DIR: inFolder('data'), ...environment }));
  }

  const proofPath = () => `/v1/flows/${flowId}/history/proof`;

  it('are written by a running service on request, and continue its own chain', async () => {
    const { code, stdout, stderr } = await events('digest');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^digest \d+ of chain 1, .*: \d+ events in \d+ streams, root [0-9a-f]{64}\n$/);
    assert.ok(existsSync(inFolder('outside/digest-000001-00000001.json')));
  });

  it('have public keys that anyone can read without an API key', async () => {
    const { status, body } = await service.client
      .as(null)
      .get<{ keys: [{ kid: string; crv: string }] }>('/.well-known/switchyard-digest-keys');
    const digest = JSON.parse(readFileSync(inFolder('outside/digest-000001-00000001.json'), 'utf8'));
    assert.equal(status, 200);
    assert.deepEqual(
      body.keys.map(({ kid, crv }) => [kid, crv]),
      [[digest.key, 'Ed25519']],
    );
  });

  it('prove a history to an outsider with a public key, a proof and the events', async () => {
    const { status, body } = await service.client.get<object>(proofPath());
    assert.equal(status, 200);
    await events('export', inFolder('log.ndjson'));
    const lines = readFileSync(inFolder('log.ndjson'), 'utf8').split('\n');
    const stream = lines.filter((line) => line.startsWith(`{"stream":"flow-${flowId}"`)).join('\n');
    writeFileSync(inFolder('proof.json'), JSON.stringify(body));
    writeFileSync(inFolder('stream.ndjson'), stream);
    const outsider = (file: string) =>
      run(process.execPath, [script, inFolder('public.pem'), inFolder('proof.json'), inFolder(file)]);
    assert.match((await outsider('stream.ndjson')).stdout, /^flow-c\w+: revisions 0 to \d+ are as they were on /);
    writeFileSync(inFolder('forged.ndjson'), stream.replace('Opening hours', 'Closing hours'));
    await assert.rejects(
      outsider('forged.ndjson'),
      /Revision 3 of flow-\w+ \(FlowRenamed, [^)]+\) was altered: its contents/,
    );
    writeFileSync(inFolder('short.ndjson'), stream.split('\n').slice(0, -1).join('\n'));
    await assert.rejects(
      outsider('short.ndjson'),
      /The last events are missing: the digest names revision \d+, and the file ends with \d+/,
    );
    const { digest, ...proof } = body as { digest: { root: string }; path: string[] };
    writeFileSync(inFolder('proof.json'), JSON.stringify({ ...proof, digest: { ...digest, root: '0'.repeat(64) } }));
    await assert.rejects(outsider('stream.ndjson'), /The digest is not signed by this key/);
    writeFileSync(inFolder('proof.json'), JSON.stringify({ ...proof, digest, path: proof.path.slice(1) }));
    await assert.rejects(outsider('stream.ndjson'), /The stream is not in the digest/);
  });

  it('prove nothing about an unknown resource or a resource that no digest covers yet', async () => {
    assert.equal((await service.client.get('/v1/flows/cz7t3m1kx0q4v8d2w6b9n5p0/history/proof')).status, 404);
    const project = await service.client.post<{ id: string }>('/v1/projects', { name: 'Later' });
    const { status, body } = await service.client.get<{ code: string }>(
      `/v1/projects/${project.body.id}/history/proof`,
    );
    assert.deepEqual([status, body.code], [404, 'no-digest']);
  });

  it('match a log that nobody altered', async () => {
    const { code, stdout, stderr } = await verify(inFolder('data/events.db'));
    assert.equal(code, 0, stderr);
    assert.match(stdout, /held against \d+ digests?, the last of /);
  });

  it('are trusted only with a key that was named or configured', async () => {
    const args = ['verify', '--store', `sqlite:${inFolder('data/events.db')}`, '--digests', inFolder('outside')];
    const unnamed = await toolExit(startEventsTool(args, {}));
    assert.equal(unnamed.code, 1);
    assert.match(unnamed.stderr, /Name the public key/);
    const configured = await events(...args);
    assert.equal(configured.code, 0, configured.stderr);
  });

  describe('signed digests of a database that was tampered with', () => {
    const copy = () => inFolder('copy.db');

    before(async () => {
      await events('digest');
      await service.stop();
    });

    beforeEach(() => copyFileSync(inFolder('data/events.db'), copy()));

    it('reveal a change of one byte in the file', async () => {
      const bytes = readFileSync(copy());
      const at = bytes.indexOf('Opening hours');
      assert.notEqual(at, -1);
      bytes[at] = 'o'.charCodeAt(0);
      writeFileSync(copy(), bytes);
      await finds(/the hash chain is broken at revision \d+ of flow-/);
    });

    it(`reveal that the last event of a stream was dropped ${long}`, async () => {
      tamper((database) => {
        const last = revisionsOf(database).at(-1);
        database.prepare('DELETE FROM events WHERE stream = ? AND revision = ?').run(stream(), last?.revision ?? -1);
        database.prepare('UPDATE heads SET revision = ? WHERE stream = ?').run((last?.revision ?? 0) - 1, stream());
      });
      await finds(/flow-\w+ was shortened: it ends with revision \d+, where it had revision \d+/);
    });

    it(`reveal that two events of a stream were swapped ${long}`, async () => {
      tamper((database) => {
        const swap = database.prepare('UPDATE events SET revision = ? WHERE stream = ? AND revision = ?');
        for (const [from, to] of [
          [0, 900],
          [1, 0],
          [900, 1],
        ] as const)
          swap.run(to, stream(), from);
      });
      await finds(/the hash chain is broken at revision \d+ of flow-/);
    });

    it('reveal that a whole chain was sealed again, although that chain is valid', async () => {
      tamper((database) => {
        const forged = forgedStream(revisionsOf(database));
        const replace = database.prepare(
          'UPDATE events SET type = ?, data = ?, metadata = ? WHERE stream = ? AND revision = ?',
        );
        for (const { type, data, metadata, revision } of forged) replace.run(type, data, metadata, stream(), revision);
      });
      const alone = await toolExit(startEventsTool(['verify', '--store', `sqlite:${copy()}`], {}));
      assert.equal(alone.code, 0, alone.stderr);
      await finds(/flow-\w+ was altered: revision \d+ or an earlier one is another/);
    });

    it(`reveal that a whole stream was removed ${long}`, async () => {
      tamper((database) => database.prepare('DELETE FROM events WHERE stream = ?').run(stream()));
      await finds(/flow-\w+ was removed/);
    });

    const stream = () => `flow-${flowId}`;

    function tamper(change: (database: DatabaseSync) => void): void {
      const database = new DatabaseSync(copy());
      change(database);
      database.close();
    }

    function revisionsOf(database: DatabaseSync): StoredEvent[] {
      const select = 'SELECT stream, revision, id, type, data, metadata FROM events WHERE stream = ? ORDER BY revision';
      return database.prepare(select).all(stream()) as unknown as StoredEvent[];
    }

    async function finds(fault: RegExp): Promise<void> {
      const { code, stderr } = await verify(copy());
      assert.equal(code, 1);
      assert.match(stderr, fault);
    }
  });

  it('begin a new chain after a restore when no service runs', async () => {
    cpSync(inFolder('data'), inFolder('restored'), { recursive: true });
    const runTool = (...args: ReadonlyArray<string>) =>
      toolExit(startEventsTool(args, { ...environment, DATA_DIR: inFolder('restored') }));
    const { code, stdout, stderr } = await runTool('digest', '--after-restore');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^digest 1 of chain 2, /);
    assert.ok(readdirSync(inFolder('outside')).includes('digest-000002-00000001.json'));
    const verified = await runTool('verify', '--digests', inFolder('outside'));
    assert.equal(verified.code, 0, verified.stderr);
    assert.match(verified.stderr, /digest 1 of chain 2 began a new chain/);
  });

  function verify(file: string): Promise<ToolExit> {
    const key = inFolder('public.pem');
    return toolExit(
      startEventsTool(['verify', '--store', `sqlite:${file}`, '--digests', inFolder('outside'), '--key', key], {}),
    );
  }
});

describe('a service without a named key for digests', function () {
  this.timeout(60_000);
  let folder: TemporaryFolder;
  let service: ServiceInProcess;
  const start = async (environment: ServiceEnvironment = {}) => {
    service = await composeService({ dataDir: folder.path, environment: { LOG_LEVEL: 'warn', ...environment } });
  };
  const keysOf = async () =>
    (await service.client.get<{ keys: ReadonlyArray<{ kid: string }> }>('/.well-known/switchyard-digest-keys')).body
      .keys;

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await service.stop();
    folder.remove();
  });

  it(`makes one beside the data at its first start, and signs with it from then on ${long}`, async () => {
    await start();
    const written = await service.client.post<{ key: string; number: number }>('/v1/digests', {});
    assert.equal(written.status, 200, written.text);
    assert.equal((await keysOf())[0]?.kid, written.body.key);
    const printed = await toolExit(startEventsTool(['digest-key', '--public'], { DATA_DIR: folder.path }));
    assert.match(printed.stdout, /^-----BEGIN PUBLIC KEY-----/);
    await service.stop();
    const log = service.log;
    assert.match(log, /A key for signed digests was made/);
    assert.ok(log.includes(join(folder.path, 'digest-key.pem')));
    await start();
    assert.equal((await keysOf())[0]?.kid, written.body.key);
    await service.stop();
    assert.doesNotMatch(service.log, /A key for signed digests was made/);
  });

  it(`signs nothing where a key that was named before is named no more ${long}`, async () => {
    const key = join(folder.path, 'named.pem');
    writeFileSync(key, (await toolExit(startEventsTool(['digest-key'], {}))).stdout);
    await start({ DIGEST_SIGNING_KEY: key });
    assert.equal((await service.client.post('/v1/digests', {})).status, 200);
    await service.stop();
    await start();
    assert.equal((await service.client.post('/v1/digests', {})).status, 404);
    await service.stop();
    assert.match(service.log, /another key has signed those that are here/);
    assert.ok(!existsSync(join(folder.path, 'digest-key.pem')));
  });

  it('with DIGEST_SIGNING_KEY=off logs once that it signs none, and answers proofs and digests with 404', async () => {
    await start({ DIGEST_SIGNING_KEY: 'off' });
    const { client } = service;
    const project = await client.post<{ id: string }>('/v1/projects', { name: 'None' });
    const proof = await client.get<{ code: string }>(`/v1/projects/${project.body.id}/history/proof`);
    const digest = await client.post<{ code: string }>('/v1/digests', {});
    assert.deepEqual(
      [proof.status, proof.body.code, digest.status, digest.body.code],
      [404, 'no-digest', 404, 'no-digest'],
    );
    assert.deepEqual(await keysOf(), []);
    await service.stop();
    assert.equal(service.log.split('No DIGEST_SIGNING_KEY').length, 2);
    assert.ok(!existsSync(join(folder.path, 'digest-key.pem')));
  });
});

describe('the verification of the log of a service', function () {
  this.timeout(60_000);
  let folder: TemporaryFolder;
  let service: ServiceInProcess;

  beforeEach(async () => {
    folder = temporaryFolder();
    service = await composeService({ dataDir: folder.path });
    await service.client.post('/v1/projects', { name: 'Verified project' });
    assert.equal((await service.client.post('/v1/digests', {})).status, 200);
    await service.stop();
  });
  afterEach(async () => {
    await service.stop();
    folder.remove();
  });

  const verify = async (signal = new AbortController().signal) => {
    const key = await toolExit(startEventsTool(['digest-key', '--public'], { DATA_DIR: folder.path }));
    return verifyInThread(
      {
        eventStore: { kind: 'sqlite', path: join(folder.path, 'events.db') },
        digestDir: join(folder.path, 'digests'),
        publicKeys: key.stdout,
        since: null,
        share: 0.5,
      },
      signal,
    );
  };

  it('runs in a thread, and finds nothing in a log that nobody altered', async () => {
    const { findings, isWhole, digest, events } = await verify();
    assert.deepEqual([findings, isWhole, digest?.chain], [[], true, 1]);
    assert.ok(events > 3, `${events} events`);
  });

  it('ends with its signal', async () => {
    await assert.rejects(verify(AbortSignal.abort(new Error('it stops'))), /it stops/);
  });

  it('is an alarm in readiness, metrics and overview when it finds something', async () => {
    const database = new DatabaseSync(join(folder.path, 'events.db'));
    database.exec("UPDATE events SET data = replace(data, 'Verified project', 'Altered project')");
    database.close();
    const found = await verify();
    assert.match(found.findings.join('\n'), /hash chain is broken at revision 0 of project-/);
    const time = new Date().toISOString();
    const { isWhole: _, ...result } = found;
    const records = new DatabaseSync(join(folder.path, 'records.db'));
    records
      .prepare("INSERT INTO records (kind, key, value) VALUES ('verification', 'last', ?)")
      .run(JSON.stringify({ time, wholeTime: time, ...result }));
    records.close();
    service = await composeService({ dataDir: folder.path });
    const ready = await service.client.get<{ checks: ReadonlyArray<{ name: string; detail: string }> }>('/readyz');
    assert.equal(ready.status, 200);
    const history = ready.body.checks.find(({ name }) => name === 'history');
    assert.match(history?.detail ?? '', /^ALARM: .*hash chain is broken at revision 0 of project-/);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(metrics, new RegExp(`switchyard_log_verification_findings ${found.findingCount}\n`));
    const dashboard = await service.client.get<{ verification: { findingCount: number } }>('/v1/dashboard/projections');
    assert.equal(dashboard.body.verification.findingCount, found.findingCount);
  });
});
