import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { DemoProcess, demoProgram, variablesIn } from '#test/support/service/demo-process.ts';
import { adminKey, ServiceProcess, temporaryFolder } from '#test/support/service/service-process.ts';
import packageJson from '../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
/** Printed between two steps of the tour, to tell their outputs apart. */
const mark = '--- end of step ---';

interface Step {
  readonly script: string;
  /** What the page shows behind it. */
  readonly told: string;
  /** The same, where that is the answer of the step's last command. */
  readonly shown: unknown;
}

describe('README.md', function () {
  this.timeout(180_000);
  const folder = temporaryFolder();
  const tour = stepsOf('README.md', 'Five minutes with it');

  after(() => folder.remove());

  it('takes a newcomer through a tour that works, and shows what it answers', async () => {
    const service = await new ServiceProcess({ dataDir: join(folder.path, 'data') }).listening();
    try {
      const scripts = tour.map(({ script }) => placed(script, service.url, adminKey));
      expectShown(tour, await run(scripts));
    } finally {
      await service.stop();
    }
  });

  it('shows what the gateway answers without a configuration', async () => {
    const service = await new ServiceProcess({ dataDir: join(folder.path, 'gateway') }).listening();
    try {
      const steps = stepsOf('docs/tour.md', 'The model gateway');
      const helpers = placed(tour[0]?.script ?? '', service.url, adminKey);
      const outputs = await run([helpers, ...steps.map(({ script }) => script)], folder.path);
      expectShown(steps, outputs.slice(1));
    } finally {
      await service.stop();
    }
  });

  it('shows what npm run demo makes, and how a partner looks at it', async () => {
    const [begun, ...steps] = stepsOf('docs/tour.md', 'Partners: templates, customers, instances');
    assert.equal(begun?.script, 'npm run demo\n');
    assert.ok(packageJson.scripts.demo.endsWith(` ${relative(root, demoProgram)}`));
    const dataDir = join(folder.path, 'demo');
    const demo = new DemoProcess({ environment: { DATA_DIR: dataDir, PORT: '0' } });
    try {
      const said = await demo.said('Stop it with Ctrl-C');
      const { URL: url = '', ...variables } = variablesIn(said);
      const told = said.replaceAll(dataDir, 'demo-data').replaceAll(url, 'http://127.0.0.1:8080');
      assert.equal(told.split('\n\nLook around')[0], begun?.told.trimEnd());
      const pasted = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
      const helpers = placed(tour[0]?.script ?? '', url, '');
      const outputs = await run([[helpers, ...pasted].join('\n'), ...steps.map(({ script }) => script)]);
      expectShown(steps, outputs.slice(1));
    } finally {
      assert.equal((await demo.stop()).code, 0);
    }
  });
});

/** A step as it stands but for the address and the key. */
function placed(script: string, url: string, key: string): string {
  return script.replace(/^URL=.*$/m, `URL=${url}`).replace(/^KEY=.*$/m, `KEY=${key}`);
}

/** Runs steps in one shell, in a folder. @returns what each wrote */
async function run(scripts: ReadonlyArray<string>, cwd = root): Promise<ReadonlyArray<string>> {
  const script = scripts.join(`\necho '${mark}'\n`);
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euc', script], { cwd, timeout: 60_000 });
  return stdout.split(mark);
}

function expectShown(steps: ReadonlyArray<Step>, outputs: ReadonlyArray<string>): void {
  assert.equal(outputs.length, steps.length);
  for (const [index, { script, shown }] of steps.entries()) {
    if (shown === null) continue;
    const answer = JSON.parse(outputs[index]?.trim().split('\n').at(-1) ?? '');
    assert.deepEqual(shapeOf(answer), shapeOf(shown), `the page shows another answer to: ${script}`);
  }
}

/** The shell blocks of a page's section, each with the block behind it. */
function stepsOf(page: string, section: string): ReadonlyArray<Step> {
  const [, text = ''] = readFileSync(join(root, page), 'utf8').split(`## ${section}\n`);
  const blocks = [...(text.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```\n(?:```(json)?\n([\s\S]*?)```)?/g)];
  assert.ok(blocks.length >= 2, 'the tour has steps');
  return blocks.map(([, script = '', format, told = '']) => ({
    script,
    told,
    shown: format === 'json' ? JSON.parse(told) : null,
  }));
}

/** An answer without what differs from run to run: ids, times, cursors. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? 'text' : value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}
