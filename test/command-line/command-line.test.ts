import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { projections } from '#projections/table.ts';
import { ServiceProcess, type TemporaryFolder, temporaryFolder } from '#test/support/service-process.ts';
import { compileCache } from '#test/support/watched-process.ts';

const tools = join(import.meta.dirname, '../../src/command-line');

interface Told {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('command line', function () {
  this.timeout(60_000);

  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = temporaryFolder();
  });

  afterEach(() => folder.remove());

  /** Runs a tool as `npm run` does. */
  function run(tool: string, ...words: ReadonlyArray<string>): Promise<Told> {
    return new Promise((resolve) => {
      const env = { NODE_COMPILE_CACHE: compileCache, PATH: process.env.PATH, DATA_DIR: folder.path };
      execFile(process.execPath, [join(tools, tool), ...words], { env, timeout: 30_000 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
    });
  }

  const lines = ({ stdout }: Told) => stdout.trim().split('\n');

  it('lists and rebuilds the read models of the running service', async () => {
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      assert.equal(lines(await run('projections.ts', 'list')).length, projections.length);
      const rebuilt = await run('projections.ts', 'rebuild', 'flows');
      assert.deepEqual([rebuilt.code, rebuilt.stderr], [0, '']);
      assert.match(lines(rebuilt).join(), /^flows running at position \d+$/);
      assert.equal(lines(await run('projections.ts', 'rebuild', 'all')).length, projections.length);
    } finally {
      await service.stop();
    }
  });

  it('does so itself when none runs', async () => {
    await (await new ServiceProcess({ dataDir: folder.path }).listening()).stop();
    const rebuilt = await run('projections.ts', 'rebuild', 'flows', 'projects');
    assert.deepEqual([rebuilt.code, rebuilt.stderr, lines(rebuilt).length], [0, '', 2]);
  });

  it('shows the first admin key, where a tool makes the first start', async () => {
    const listed = await run('projections.ts', 'list');
    const [key = ''] = /sy_live_[A-Za-z0-9]+/.exec(listed.stdout) ?? [];
    const service = await new ServiceProcess({
      dataDir: folder.path,
      environment: { BOOTSTRAP_API_KEY: undefined },
    }).listening();
    const answer = await fetch(`${service.url}/v1/me`, { headers: { 'x-api-key': key } });
    await service.stop();
    assert.equal(answer.status, 200);
    assert.doesNotMatch(service.stdout, /sy_live_/);
  });

  it('says what is wrong, and ends with 1', async () => {
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      const unknown = await run('projections.ts', 'rebuild', 'nothing');
      assert.equal(unknown.code, 1);
      assert.match(unknown.stderr, /There is no projection nothing/);
      const running = await run('projections.ts', 'retry', 'flows');
      assert.equal(running.code, 1);
      assert.match(running.stderr, /nothing to retry/);
      const skipped = await run('projections.ts', 'skip', 'flows', 'some-event');
      assert.equal(skipped.code, 1);
      assert.match(skipped.stderr, /not stopped at event some-event/);
      for (const words of [[], ['rebuild'], ['retry'], ['skip', 'flows'], ['dance']]) {
        const told = await run('projections.ts', ...words);
        assert.equal(told.code, 1);
        assert.match(told.stderr, /^Usage: /);
      }
    } finally {
      await service.stop();
    }
  });

  it('lists the processes, and says why one that runs is not retried', async () => {
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      const listed = lines(await run('processes.ts', 'list'));
      assert.ok(
        listed.length > 0 && listed.every((line) => /^[a-z-]+ running at position \d+$/.test(line)),
        listed.join(),
      );
      const running = await run('processes.ts', 'retry', 'detach-phone-numbers');
      assert.deepEqual([running.code, running.stderr], [1, 'processes: It runs: there is nothing to retry.\n']);
      const skipped = await run('processes.ts', 'skip', 'detach-phone-numbers', 'some-event');
      assert.match(skipped.stderr, /not stopped at event some-event/);
      for (const words of [[], ['rebuild', 'all'], ['skip', 'detach-phone-numbers']]) {
        const refused = await run('processes.ts', ...words);
        assert.equal(refused.code, 1);
        assert.match(refused.stderr, /^Usage: npm run processes/);
      }
    } finally {
      await service.stop();
    }
  });

  it('speaks through a socket that only its owner can open, and that goes with the service', async () => {
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    const path = join(folder.path, 'control.sock');
    assert.equal(statSync(path).mode & 0o777, 0o600);
    await service.stop();
    assert.equal(statSync(path, { throwIfNoEntry: false }), undefined);
  });

  it('makes a text that BOOTSTRAP_API_KEY takes', async () => {
    const key = lines(await run('keys.ts', 'generate'))[0] ?? '';
    assert.match(key, /^sy_live_[A-Za-z0-9]{40,}$/);
    const environment = { BOOTSTRAP_API_KEY: key };
    const service = await new ServiceProcess({ dataDir: folder.path, environment }).listening();
    const answer = await fetch(`${service.url}/v1/me`, { headers: { 'x-api-key': key } });
    await service.stop();
    assert.equal(answer.status, 200);
    assert.equal((await run('keys.ts')).code, 1);
  });

  it('makes another admin key beside the running service, and alone', async () => {
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      const beside = await run('keys.ts', 'admin');
      assert.deepEqual([beside.code, beside.stderr], [0, '']);
      const me = await service.client.as(beside.stdout.trim()).get('/v1/me');
      assert.deepEqual([me.status, me.body.keyType], [200, 'admin']);
    } finally {
      await service.stop();
    }
    const alone = await run('keys.ts', 'admin');
    assert.deepEqual([alone.code, alone.stderr], [0, '']);
    const again = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      assert.equal((await again.client.as(alone.stdout.trim()).get('/v1/me')).status, 200);
    } finally {
      await again.stop();
    }
  });

  it('ends every secret issued before a time, whoever holds it, but for a new admin key', async () => {
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      const { client } = service;
      const { projectId } = (await client.get('/v1/me')).body;
      const body = { name: 'Website', keyType: 'project' };
      const made = await client.post<{ id: string; key: string }>(`/v1/projects/${projectId}/keys`, body);
      const wrong = await run('keys.ts', 'revoke-before', '2999-01-01T00:00:00Z');
      assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
      const ended = await run('keys.ts', 'revoke-before', 'now');
      assert.deepEqual([ended.code, ended.stderr, lines(ended).length], [0, '', 1]);
      const admin = client.as(ended.stdout.trim());
      for (const old of [client, client.as(made.body.key)]) assert.equal((await old.get('/v1/me')).status, 401);
      assert.equal((await admin.get('/v1/me')).body.keyType, 'admin');
      const rotated = await admin.post<{ key: string }>(`/v1/keys/${made.body.id}/rotate`, { overlapSeconds: 60 });
      assert.equal((await client.as(rotated.body.key).get('/v1/me')).status, 200);
      assert.equal((await client.as(made.body.key).get('/v1/me')).status, 401);
    } finally {
      await service.stop();
    }
    assert.equal((await run('keys.ts', 'revoke-before')).code, 1);
  });
});
