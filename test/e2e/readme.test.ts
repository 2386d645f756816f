import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { adminKey, ServiceProcess, type TemporaryFolder, temporaryFolder } from '#test/support/service-process.ts';

const root = join(import.meta.dirname, '../..');
/** Printed between two steps of the tour, to tell their outputs apart. */
const mark = '--- end of step ---';

interface Step {
  readonly script: string;
  /** What README.md shows as the answer of the step's last command. */
  readonly shown: object | null;
}

describe('README.md', () => {
  let folder: TemporaryFolder;
  let service: ServiceProcess;

  before(async () => {
    folder = temporaryFolder();
    service = await new ServiceProcess({ dataDir: folder.path }).listening();
  });

  after(async () => {
    await service.stop();
    folder.remove();
  });

  it('takes a newcomer through a tour that works, and shows what it answers', async () => {
    const steps = tour();
    const outputs = await run(steps.map(({ script }) => script));
    for (const [index, { script, shown }] of steps.entries()) {
      if (shown === null) continue;
      const answer = JSON.parse(outputs[index]?.trim().split('\n').at(-1) ?? '');
      assert.deepEqual(shapeOf(answer), shapeOf(shown), `another answer than README.md shows to: ${script}`);
    }
  });

  /** Runs the steps in one shell, as they stand but for the address and the key. */
  async function run(scripts: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    const told = scripts.join(`\necho '${mark}'\n`);
    const script = told.replace(/^URL=.*$/m, `URL=${service.url}`).replace(/^KEY=.*$/m, `KEY=${adminKey}`);
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { timeout: 60_000 });
    return stdout.split(mark);
  }
});

/** The shell blocks of the tour, each with the JSON block behind it. */
function tour(): ReadonlyArray<Step> {
  const [, text = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('## Five minutes with it');
  const blocks = [...(text.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```\n(?:```json\n([\s\S]*?)```)?/g)];
  assert.ok(blocks.length > 5, 'the tour has steps');
  return blocks.map(([, script = '', shown]) => ({ script, shown: shown === undefined ? null : JSON.parse(shown) }));
}

/** An answer without what differs from run to run: ids, times, cursors. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? 'text' : value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}
