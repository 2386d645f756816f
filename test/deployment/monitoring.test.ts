import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { composeService } from '#test/support/service/service-in-process.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';
import packageJson from '../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'deployment');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

/** The names of metrics in the source, and those of Prometheus's own client and server. */
function knownMetrics(): ReadonlySet<string> {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const named = sources.flatMap((path) =>
    Array.from(
      readFileSync(join(root, 'src', path), 'utf8').matchAll(/'((?:switchyard|gen_ai)_[a-z_]+)'/g),
      ([, name = '']) => name,
    ),
  );
  return new Set([...named, 'process_resident_memory_bytes', 'up']);
}

const metricsIn = (expression: string) =>
  Array.from(
    expression.matchAll(/\b((?:switchyard|gen_ai_client|process)_[a-z_]+|up)(?=[{[\s)]|$)/g),
    ([, name = '']) => name.replace(/_(?:count|bucket|sum)$/, ''),
  );

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

describe('the monitoring of the deployment', () => {
  const known = knownMetrics();

  it('has alert rules that name metrics of the service, with a severity and a summary', () => {
    const { groups } = parse(read('prometheus-alerts.yml')) as {
      groups: ReadonlyArray<{ rules: ReadonlyArray<Rule> }>;
    };
    const rules = groups.flatMap((group) => group.rules);
    assert.ok(rules.length >= 8);
    for (const { alert, expr, labels, annotations } of rules) {
      const metrics = metricsIn(expr);
      assert.ok(metrics.length > 0, alert);
      for (const metric of metrics) assert.ok(known.has(metric), `${alert}: ${metric}`);
      assert.match(labels.severity, /^(?:critical|warning)$/);
      assert.ok(annotations.summary.length > 20, alert);
    }
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  });

  it('has a board for Grafana whose panels name metrics of the service', () => {
    const { panels } = JSON.parse(read('grafana-board.json')) as {
      panels: ReadonlyArray<{ title: string; targets: ReadonlyArray<{ expr: string }> }>;
    };
    for (const { title, targets } of panels)
      for (const { expr } of targets) {
        const metrics = metricsIn(expr);
        assert.ok(metrics.length > 0, title);
        for (const metric of metrics) assert.ok(known.has(metric), `${title}: ${metric}`);
      }
  });
});

describe('the units of the deployment', () => {
  const units = readdirSync(folder).filter((name) => /\.(?:service|timer)$/.test(name));

  it('have a service for each timer', () => {
    const timers = units.filter((name) => name.endsWith('.timer'));
    assert.deepEqual(timers, ['switchyard-backup.timer', 'switchyard-digest.timer', 'switchyard-sweep.timer']);
    for (const timer of timers) assert.ok(units.includes(timer.replace('.timer', '.service')), timer);
  });

  it('start the service as npm start does', () => {
    const command = `/opt/switchyard/node_modules/.bin/${packageJson.scripts.start}`;
    assert.ok(read('switchyard.service').split('\n').includes(`ExecStart=${command}`), command);
  });

  it('are accepted by systemd, where it is installed', function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) this.skip();
    this.timeout(60_000);
    const copies = temporaryFolder();
    try {
      for (const name of units) {
        const text = read(name)
          .replaceAll('/opt/switchyard', root)
          .replaceAll('User=switchyard', `User=${userInfo().username}`);
        writeFileSync(join(copies.path, name), text);
      }
      const files = units.map((name) => join(copies.path, name));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], { encoding: 'utf8' });
      const faults = stderr.split('\n').filter((line) => line.includes(copies.path) || line.includes('switchyard'));
      assert.deepEqual([status, faults], [0, []], stderr);
    } finally {
      copies.remove();
    }
  });
});

describe('deployment/backup.sh', function () {
  this.timeout(120_000);
  let place: TemporaryFolder;

  beforeEach(() => {
    place = temporaryFolder();
  });
  afterEach(() => place.remove());

  const back = (environment: Readonly<Record<string, string>> = {}) =>
    promisify(execFile)(join(folder, 'backup.sh'), [join(place.path, 'backups')], {
      env: { PATH: process.env.PATH, DATA_DIR: join(place.path, 'data'), ...environment },
    });

  it('copies a running service into a folder from which another one starts, and keeps as many as it is asked for', async () => {
    const service = await composeService({ dataDir: join(place.path, 'data') });
    const { id } = expectStatus(await service.client.post<{ id: string }>('/v1/projects', { name: 'Kept' }), 201);
    const { stdout } = await back();
    const [copy = ''] = stdout.trim().split('\n').slice(-1);
    assert.ok(existsSync(join(copy, 'events.db')), stdout);
    cpSync(copy, join(place.path, 'backups/20200101T000000Z'), { recursive: true });
    await back({ KEEP_BACKUPS: '2' });
    assert.ok(!existsSync(join(place.path, 'backups/20200101T000000Z')));
    await service.stop();
    const restored = await composeService({ dataDir: copy });
    expectStatus(await restored.client.get(`/v1/projects/${id}`), 200);
    await restored.stop();
  });

  it('says that a folder is not that of a service, and leaves nothing', async () => {
    await assert.rejects(back(), /has no events\.db/);
    assert.deepEqual(existsSync(join(place.path, 'backups')) ? readdirSync(join(place.path, 'backups')) : [], []);
  });
});
