import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readConfig } from '#app/config.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { long } from '#test/support/run/long.ts';
import { startService, temporaryFolder } from '#test/support/service/service-process.ts';
import { createAttemptMetrics, genAiMetrics } from '#usage/call-metrics.ts';
import packageJson from '../../package.json' with { type: 'json' };

const run = promisify(execFile);

/** Everything that the page names must exist, so that it cannot go out of date unnoticed. */
describe('docs/operations.md', function () {
  this.timeout(180_000);

  const page = readFileSync('docs/operations.md', 'utf8');
  const sources = ['src', 'commands', 'projections', 'queries', 'deployment']
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
  const found = (pattern: RegExp) => [...new Set([...page.matchAll(pattern)].map(([, name = '']) => name))];
  const section = (title: string) => page.split(/^## /m).find((text) => text.startsWith(title)) ?? '';

  it('names only metrics that exist', async () => {
    const metrics = createMetrics();
    metrics.watchProjections(async () => []);
    metrics.watchStopped(async () => []);
    metrics.watchUnknownEvents(async () => []);
    createAttemptMetrics(metrics.registry).watchTargets(() => []);
    genAiMetrics(metrics.registry, { callsLost: 0, handOut: () => undefined });
    const text = await metrics.text();
    metrics.close();
    const names = found(/`((?:switchyard|nodejs|process|gen_ai_client)_\w+)`/g);
    assert.ok(names.length >= 5);
    // Some metrics are registered by the component that they count, only when it is opened.
    for (const name of names) assert.ok(text.includes(`# TYPE ${name} `) || sources.includes(`'${name}'`), name);
  });

  it('names only log lines that the code can write', () => {
    const lines = [...section('What to watch').matchAll(/^\| `([^`]+)` \| (?:fatal|error|warn|info) \|/gm)];
    assert.ok(lines.length >= 5);
    for (const [, line = ''] of [...lines, ...page.matchAll(/`(This node holds the lease|Read models are built)`/g)])
      assert.ok(sources.includes(`'${line}'`), line);
  });

  it('names only environment variables that the configuration reads', () => {
    const known = new Set<string>([
      'CONTROL_PLANES',
      'GATEWAYS',
      'MALLOC_ARENA_MAX',
      'NODE_COMPILE_CACHE',
      'NODE_OPTIONS',
      'XDG_DATA_HOME',
    ]);
    readConfig(new Proxy({}, { get: (_, name) => void known.add(String(name)) }));
    const names = found(/`([A-Z][A-Z_]+[A-Z])(?:=[^`]*)?`/g);
    assert.ok(names.length >= 8);
    for (const name of names) assert.ok(known.has(name), name);
  });

  it('names only collections, files and commands that exist', () => {
    const table = section('Where the data is')
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(2);
    const named = table.flatMap((line) => line.split('|').slice(2, 4)).join(' ');
    const parts = [...named.matchAll(/`([\w.-]+)[^`]*`/g)].flatMap(([, name = '']) => name.split('.', 1));
    assert.ok(parts.length >= 12);
    for (const part of parts) assert.match(sources, new RegExp(`['"\`/]${part}`), part);
    for (const script of found(/npm run ([\w-]+)/g)) assert.ok(script in packageJson.scripts, script);
    for (const file of found(/node (src\/[\w/-]+\.ts)/g)) assert.ok(readFileSync(file).length > 0);
  });

  it(`backs up a running service so that another service starts on the copy ${long}`, async () => {
    const folder = temporaryFolder();
    const [live, backup] = [join(folder.path, 'live'), join(folder.path, 'backup')];
    const service = await startService({ dataDir: live });
    try {
      const customer = { name: 'Ada', clientEmail: 'ada@example.org' };
      assert.equal((await service.client.post('/v1/partner/customers', customer)).status, 201);
      const project = await service.client.post<{ id: string }>('/v1/projects', { name: 'Kept' });
      const flows = `/v1/projects/${project.body.id}/flows`;
      const create = () => service.client.post(flows, { name: 'Flow', flowSchema: {} });
      assert.equal((await create()).status, 201);
      let written = false;
      const writing = (async () => {
        while (!written) assert.equal((await create()).status, 201);
      })();
      const [, script = ''] = /\*\*Embedded stores, while the service runs\.\*\*.*?```sh\n(.*?)```/s.exec(page) ?? [];
      assert.match(script, /VACUUM INTO/);
      const here = script.replaceAll(/\bdata\//g, `${live}/`).replaceAll(/(?<![\w/])backup\b/g, backup);
      const { stdout } = await run('bash', ['--norc', '-euc', here]).finally(() => {
        written = true;
      });
      await writing;
      assert.match(stdout, /verified \d+ events/);
      const restored = await startService({ dataDir: backup });
      try {
        const listed = await restored.client.get<{ flows: unknown[] }>(flows);
        const lost =
          (await service.client.get<{ flows: unknown[] }>(flows)).body.flows.length - listed.body.flows.length;
        assert.ok(listed.body.flows.length >= 1 && lost >= 0);
        const { body } = await restored.client.get<{ customers: object[] }>('/v1/partner/customers');
        assert.deepEqual({ ...body.customers[0], ...customer }, body.customers[0]);
      } finally {
        await restored.stop();
      }
    } finally {
      await service.kill();
      folder.remove();
    }
  });
});
