import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { long } from '#test/support/run/long.ts';
import { DemoProcess, demoProgram, variablesIn } from '#test/support/service/demo-process.ts';
import { adminKey, type ServiceProcess, startService, temporaryFolder } from '#test/support/service/service-process.ts';
import packageJson from '../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
/** Printed between two steps of the tour, to separate their outputs. */
const mark = '--- end of step ---';

interface Step {
  readonly script: string;
  /** The block after the commands, as text. */
  readonly output: string;
  /** The same block, if it is the answer to the step's last command. */
  readonly shown: string | null;
}

describe('README.md and docs/tour.md', function () {
  this.timeout(180_000);
  const folder = temporaryFolder();
  const tour = stepsOf('README.md', 'Five minutes with it');

  after(() => folder.remove());

  describe('README.md and docs/tour.md, on a service of their own', () => {
    let service: ServiceProcess;
    before(async () => {
      service = await startService({ dataDir: join(folder.path, 'data') });
    });
    after(() => service?.kill());

    // The first test, because it shows the lists of an empty service.
    it('shows a tour whose commands work and give the shown answers', async () => {
      const scripts = tour.map(({ script }) => placed(script, service.url, adminKey));
      expectShown(tour, await run(scripts));
    });

    it('shows the answer of the gateway without a configuration', async () => {
      const steps = stepsOf('docs/tour.md', 'The model gateway');
      const helpers = placed(tour[0]?.script ?? '', service.url, adminKey);
      const outputs = await run([helpers, ...steps.map(({ script }) => script)], folder.path);
      expectShown(steps, outputs.slice(1));
    });
  });

  it(`shows the resources that npm run demo creates, and how a partner reads them ${long}`, async () => {
    const [begun, ...steps] = stepsOf('docs/tour.md', 'Partners: templates, customers, instances');
    assert.equal(begun?.script, 'npm run demo\n');
    assert.ok(packageJson.scripts.demo.endsWith(` ${relative(root, demoProgram)}`));
    const dataDir = join(folder.path, 'demo');
    const demo = new DemoProcess({ environment: { DATA_DIR: dataDir, PORT: '0' } });
    try {
      const stdout = await demo.printed('Stop it with Ctrl-C');
      const { URL: url = '', ...variables } = variablesIn(stdout);
      const printed = stdout.replaceAll(dataDir, 'demo-data').replaceAll(url, 'http://127.0.0.1:8080');
      assert.equal(printed.split('\n\nLook around')[0], begun?.output.trimEnd());
      const pasted = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
      const helpers = placed(tour[0]?.script ?? '', url, '');
      const outputs = await run([[helpers, ...pasted].join('\n'), ...steps.map(({ script }) => script)]);
      expectShown(steps, outputs.slice(1));
    } finally {
      assert.equal((await demo.stop()).code, 0);
    }
  });
});

/** Replaces the address and the key in a step. */
function placed(script: string, url: string, key: string): string {
  return script.replace(/^URL=.*$/m, `URL=${url}`).replace(/^KEY=.*$/m, `KEY=${key}`);
}

/** Runs steps in one shell, in a folder. @returns the output of each */
async function run(scripts: ReadonlyArray<string>, cwd = root): Promise<ReadonlyArray<string>> {
  const script = scripts.join(`\necho '${mark}'\n`);
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euc', script], { cwd, timeout: 60_000 });
  return stdout.split(mark);
}

function expectShown(steps: ReadonlyArray<Step>, outputs: ReadonlyArray<string>): void {
  assert.equal(outputs.length, steps.length);
  const [answered, written] = [withoutRandomParts(), withoutRandomParts()];
  for (const [index, { script, shown }] of steps.entries()) {
    if (shown === null) continue;
    const answer = outputs[index]?.trim().split('\n').at(-1) ?? '';
    assert.equal(answered(answer), written(shown), `the page shows another answer to: ${script}`);
  }
}

/** Reads the shell blocks of a page's section, each with the block after it. */
function stepsOf(page: string, section: string): ReadonlyArray<Step> {
  const [, text = ''] = readFileSync(join(root, page), 'utf8').split(`## ${section}\n`);
  const blocks = [...(text.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```\n(?:```(json)?\n([\s\S]*?)```)?/g)];
  assert.ok(blocks.length >= 2, 'the section has too few steps');
  return blocks.map(([, script = '', format, output = '']) => ({
    script,
    output,
    shown: format === 'json' ? output.trim() : null,
  }));
}

/** What differs between two runs: times, request ids, cursors, and what the sandbox counts. */
const randomParts: ReadonlyArray<readonly [RegExp, string]> = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID'],
  [/(?<="nextCursor":")[\w-]+/g, 'CURSOR'],
  [/(?<="created":)\d+/g, 'SECONDS'],
  [/chatcmpl-sandbox-[0-9a-f]{24}/g, 'CHAT'],
  [/sy_live_\w+/g, 'KEY'],
];

/**
 * Returns a function that replaces what differs between two runs, and nothing else. Ids are numbered as they first
 * appear, so that the same id must be shown wherever the same one is answered.
 */
function withoutRandomParts(): (text: string) => string {
  const ids = new Map<string, string>();
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `ID${ids.size + 1}`);
    return ids.get(id) ?? '';
  };
  return (text) => {
    const fixed = randomParts.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), text);
    return fixed.replaceAll(/\bc[0-9a-z]{23,47}\b/g, numbered);
  };
}
