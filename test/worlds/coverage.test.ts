import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { long } from '#test/support/run/long.ts';

const seeds = 50;
const minPercent = 80;
const limitMs = 280_000;
const root = new URL('../..', import.meta.url).pathname;
const folders = [
  'src/leases',
  'src/process-engine',
  'src/projection-engine',
  'src/webhooks/delivery',
  'src/processes/batches',
];

/** The lines of a file, as c8 sums them up. */
interface FileSummary {
  readonly lines: { readonly total: number; readonly covered: number };
}

describe(`The worlds of ${seeds} seeds ${long}`, function () {
  this.timeout(300_000);

  it(`run at least ${minPercent} % of the lines of what several nodes do`, () => {
    const files = Object.entries(measure());
    for (const folder of folders) {
      const lines = files.flatMap(([file, summary]) => (file.includes(`/${folder}/`) ? [summary.lines] : []));
      const total = lines.reduce((sum, one) => sum + one.total, 0);
      const covered = lines.reduce((sum, one) => sum + one.covered, 0);
      assert.ok(covered * 100 >= minPercent * total, `${folder}: ${covered} of ${total} lines`);
    }
  });
});

function measure(): Readonly<Record<string, FileSummary>> {
  const folder = mkdtempSync(join(tmpdir(), 'coverage-'));
  try {
    const included = folders.flatMap((name) => ['--include', `${name}/**`]);
    const reports = ['--reporter=json-summary', '--reports-dir', folder, '--temp-directory', join(folder, 'raw')];
    const worlds = [process.execPath, 'test/worlds/run-worlds.ts', String(seeds)];
    execFileSync('npx', ['c8', '--all', ...reports, ...included, ...worlds], { cwd: root, timeout: limitMs });
    return JSON.parse(readFileSync(join(folder, 'coverage-summary.json'), 'utf8')) as Record<string, FileSummary>;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
