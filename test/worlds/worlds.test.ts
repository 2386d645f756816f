import assert from 'node:assert/strict';
import { long } from '#test/support/run/long.ts';
import { keptSeeds } from './kept-seeds.ts';
import { runWorld } from './world.ts';

const seeds = 50;
const newSeedsMs = 120_000;

describe('Simulated worlds', function () {
  this.timeout(120_000);

  it(`react to everything once all faults have ended, from ${seeds} seeds`, async () => {
    for (let seed = 1; seed <= seeds; seed += 1) await assertNoProblem(seed);
  });

  it('of the kept seeds show their faults no more', async () => {
    for (const { seed } of keptSeeds) await assertNoProblem(seed);
  });

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
