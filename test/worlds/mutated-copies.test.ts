import assert from 'node:assert/strict';
import { long } from '#test/support/run/long.ts';
import { type Mutation, runWorldsOnCopy } from './mutated-copy.ts';

const seeds = 200;

/** Faults that the service once had, each as a change of one file. */
const faults: ReadonlyArray<{ readonly title: string; readonly mutations: ReadonlyArray<Mutation> }> = [
  {
    title: 'a term that lasts 1.4 s however slow the store is',
    mutations: [
      {
        file: 'src/leases/round-times.ts',
        from: 'return within(minExpiryMs, expiryFactor * this.thirdSlowestMs, maxExpiryMs);',
        to: 'return minExpiryMs;',
      },
    ],
  },
];

describe(`Simulated worlds of a copy of the service ${long}`, function () {
  this.timeout(600_000);

  for (const { title, mutations } of faults)
    it(`find ${title}`, async () => {
      assert.match(await runWorldsOnCopy(mutations, seeds), /npm run worlds -- --seed \d+: /);
    });
});
