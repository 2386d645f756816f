import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { long } from '#test/support/run/long.ts';
import { keptSeeds } from './kept-seeds.ts';
import { runWorld } from './world.ts';

const seeds = 50;
const limitMs = 110_000;
const newSeedsMs = 120_000;

describe('Simulated worlds', function () {
  this.timeout(120_000);

  it(`react to everything once all faults have ended, from ${seeds} seeds`, async () => {
    const runner = new URL('run-worlds.ts', import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [runner, String(seeds)], { timeout: limitMs }).catch(
      ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => ({ stdout: stdout + stderr }),
    );
    assert.match(stdout, new RegExp(`^${seeds} of ${seeds} worlds, 0 with a problem`, 'm'), stdout);
  });

  for (const { seed, showed } of keptSeeds)
    it(`of the kept seed ${seed} show no more ${showed}`, () => assertNoProblem(seed));

  it('make the same calls in each run of a seed', async () => {
    const [one, other] = [await runWorld(7), await runWorld(7)];
    assert.deepEqual(other.lines, one.lines);
    assert.notDeepEqual((await runWorld(8)).lines, one.lines);
  });

  it(`react to everything, from two minutes of new seeds ${long}`, async function () {
    this.timeout(3 * newSeedsMs);
    const until = performance.now() + newSeedsMs;
    for (let seed = Date.now() % 2 ** 31; performance.now() < until; seed += 1) await assertNoProblem(seed);
  });
});

async function assertNoProblem(seed: number): Promise<void> {
  const { problems } = await runWorld(seed);
  assert.deepEqual(problems, [], `npm run worlds -- --seed ${seed}`);
}
