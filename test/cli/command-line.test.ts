import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { projections } from '#projections/table.ts';
import { ServiceProcess, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';
import { compileCache } from '#test/support/service/watched-process.ts';

const tools = join(import.meta.dirname, '../../src/cli');

interface Told {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('command line', function () {
  this.timeout(180_000);

  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = temporaryFolder();
  });

  afterEach(() => folder.remove());

  /** Runs a tool as `npm run` does. */
  function run(tool: string, words: ReadonlyArray<string>, dataDir = folder.path): Promise<Told> {
    return new Promise((resolve) => {
      const env = { NODE_COMPILE_CACHE: compileCache, PATH: process.env.PATH, DATA_DIR: dataDir };
      execFile(process.execPath, [join(tools, tool), ...words], { env, timeout: 120_000 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
    });
  }

  const lines = ({ stdout }: Told) => stdout.trim().split('\n');

  describe('beside a running service', () => {
    const shared = temporaryFolder();
    let service: ServiceProcess;
    const runBeside = (tool: string, ...words: ReadonlyArray<string>) => run(tool, words, shared.path);

    before(async () => {
      service = await new ServiceProcess({ dataDir: shared.path }).listening();
    });

    after(async () => {
      await service.kill();
      shared.remove();
    });

    it('lists and rebuilds the read models of the service', async () => {
      assert.equal(lines(await runBeside('projections.ts', 'list')).length, projections.length);
      const rebuilt = await runBeside('projections.ts', 'rebuild', 'flows');
      assert.deepEqual([rebuilt.code, rebuilt.stderr], [0, '']);
      assert.match(lines(rebuilt).join(), /^flows running at position \d+$/);
      assert.equal(lines(await runBeside('projections.ts', 'rebuild', 'all')).length, projections.length);
    });

    it('says what is wrong, and ends with 1', async () => {
      const unknown = await runBeside('projections.ts', 'rebuild', 'nothing');
      assert.equal(unknown.code, 1);
      assert.match(unknown.stderr, /There is no projection nothing/);
      const running = await runBeside('projections.ts', 'retry', 'flows');
      assert.equal(running.code, 1);
      assert.match(running.stderr, /nothing to retry/);
      const skipped = await runBeside('projections.ts', 'skip', 'flows', 'some-event');
      assert.equal(skipped.code, 1);
      assert.match(skipped.stderr, /not stopped at event some-event/);
    });

    it('lists the processes, and says why one that runs is not retried', async () => {
      const listed = lines(await runBeside('processes.ts', 'list'));
      assert.ok(
        listed.length > 0 && listed.every((line) => /^[a-z-]+ running at position \d+$/.test(line)),
        listed.join(),
      );
      const running = await runBeside('processes.ts', 'retry', 'detach-phone-numbers');
      assert.deepEqual([running.code, running.stderr], [1, 'processes: It runs: there is nothing to retry.\n']);
      const skipped = await runBeside('processes.ts', 'skip', 'detach-phone-numbers', 'some-event');
      assert.match(skipped.stderr, /not stopped at event some-event/);
    });

    it('makes another admin key', async () => {
      const beside = await runBeside('keys.ts', 'admin');
      assert.deepEqual([beside.code, beside.stderr], [0, '']);
      const me = await service.client.as(beside.stdout.trim()).get('/v1/me');
      assert.deepEqual([me.status, me.body.keyType], [200, 'admin']);
    });

    it('speaks through a socket that only its owner can open, and that goes with the service', async () => {
      const path = join(shared.path, 'control.sock');
      assert.equal(statSync(path).mode & 0o777, 0o600);
      await service.stop();
      assert.equal(statSync(path, { throwIfNoEntry: false }), undefined);
    });
  });

  it('shows how a tool is used where its words are wrong, and ends with 1', async () => {
    for (const words of [[], ['rebuild'], ['retry'], ['skip', 'flows'], ['dance']]) {
      const shown = await run('projections.ts', words);
      assert.equal(shown.code, 1);
      assert.match(shown.stderr, /^Usage: /);
    }
    for (const words of [[], ['rebuild', 'all'], ['skip', 'detach-phone-numbers']]) {
      const shown = await run('processes.ts', words);
      assert.equal(shown.code, 1);
      assert.match(shown.stderr, /^Usage: npm run processes/);
    }
  });

  it('does so itself when none runs', async () => {
    await (await new ServiceProcess({ dataDir: folder.path }).listening()).stop();
    const rebuilt = await run('projections.ts', ['rebuild', 'flows', 'projects']);
    assert.deepEqual([rebuilt.code, rebuilt.stderr, lines(rebuilt).length], [0, '', 2]);
  });

  it('shows the first admin key, where a tool makes the first start', async () => {
    const listed = await run('projections.ts', ['list']);
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

  it('makes a text that BOOTSTRAP_API_KEY takes', async () => {
    const key = lines(await run('keys.ts', ['generate']))[0] ?? '';
    assert.match(key, /^sy_live_[A-Za-z0-9]{40,}$/);
    const environment = { BOOTSTRAP_API_KEY: key };
    const service = await new ServiceProcess({ dataDir: folder.path, environment }).listening();
    const answer = await fetch(`${service.url}/v1/me`, { headers: { 'x-api-key': key } });
    await service.stop();
    assert.equal(answer.status, 200);
    assert.equal((await run('keys.ts', [])).code, 1);
  });

  it('makes another admin key where no service runs', async () => {
    const alone = await run('keys.ts', ['admin']);
    assert.equal(alone.code, 0, alone.stderr);
    const key = lines(alone).at(-1) ?? '';
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      assert.equal((await service.client.as(key).get('/v1/me')).status, 200);
    } finally {
      await service.stop();
    }
  });

  it('ends every secret issued before a time, whoever holds it, but for a new admin key', async () => {
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      const { client } = service;
      const { projectId } = (await client.get('/v1/me')).body;
      const body = { name: 'Website', keyType: 'project' };
      const made = await client.post<{ id: string; key: string }>(`/v1/projects/${projectId}/keys`, body);
      const wrong = await run('keys.ts', ['revoke-before', '2999-01-01T00:00:00Z']);
      assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
      const ended = await run('keys.ts', ['revoke-before', 'now']);
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
    assert.equal((await run('keys.ts', ['revoke-before'])).code, 1);
  });
});
