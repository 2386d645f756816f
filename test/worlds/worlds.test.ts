import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { long } from '#test/support/run/long.ts';
import { keptSeeds } from './kept-seeds.ts';
import { runWorld } from './world.ts';

const seeds = 50;
/** About two minutes of two cores. */
const newSeeds = 450;
const limitMs = 110_000;
const newSeedsLimitMs = 600_000;
const root = new URL('../..', import.meta.url).pathname;

describe('Simulated worlds', function () {
  this.timeout(120_000);

  it(`react to everything once all faults have ended, from ${seeds} seeds`, () =>
    assertNoProblems({ count: seeds, from: 1, limitMs }));

  for (const { seed, showed } of keptSeeds)
    it(`of the kept seed ${seed} show no more ${showed}`, () => assertNoProblem(seed));

  it('make the same calls in each run of a seed', async () => {
    const [one, other] = [await runWorld(7), await runWorld(7)];
    assert.deepEqual(other.lines, one.lines);
    assert.notDeepEqual((await runWorld(8)).lines, one.lines);
  });

  it(`react to everything, from ${newSeeds} seeds that are new with every change of the code ${long}`, async function () {
    this.timeout(newSeedsLimitMs);
    await assertNoProblems({ count: newSeeds, from: seedOfCode(), limitMs: newSeedsLimitMs });
  });
});

interface Worlds {
  readonly count: number;
  readonly from: number;
  readonly limitMs: number;
}

async function assertNoProblems({ count, from, limitMs: timeout }: Worlds): Promise<void> {
  const args = [join(root, 'test/worlds/run-worlds.ts'), String(count), '--from', String(from)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout }).catch(
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => ({ stdout: stdout + stderr }),
  );
  assert.match(stdout, new RegExp(`^${count} of ${count} worlds, 0 with a problem`, 'm'), stdout);
}

/** The same code has the same seeds, so a run that fails can be repeated, and a run that passes passes again. */
function seedOfCode(): number {
  const hash = createHash('sha256');
  for (const folder of ['src', 'test/worlds'])
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort())
      if (file.endsWith('.ts')) hash.update(file).update(readFileSync(join(root, folder, file)));
  return hash.digest().readUInt32BE() % 2 ** 31;
}

async function assertNoProblem(seed: number): Promise<void> {
  const { problems } = await runWorld(seed);
  assert.deepEqual(problems, [], `npm run worlds -- --seed ${seed}`);
}
