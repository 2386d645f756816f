import assert from 'node:assert/strict';
import { long } from '#test/support/run/long.ts';
import { type Mutation, runWorldsOnCopy } from './mutated-copy.ts';
import { runWorld } from './world.ts';

const count = 150;

/** A fault that the service once had, or could have, as changes of its files. */
interface MutatedCopy {
  readonly title: string;
  /** What the world of a seed must say of it. */
  readonly problem: string;
  /** A seed that finds it. After a change of the code a later one may be the first. */
  readonly from: number;
  readonly mutations: ReadonlyArray<Mutation>;
}

const copies: ReadonlyArray<MutatedCopy> = [
  {
    title: 'a term that lasts 1.4 s however slow the store is',
    problem: 'is attached to a deleted flow',
    from: 1,
    mutations: [
      { file: 'src/leases/round-times.ts', from: 'const maxExpiryMs = 20_000;', to: 'const maxExpiryMs = 1_400;' },
    ],
  },
  {
    title: 'a wait for a write of checkpoints that begins after the term',
    problem: 'has left stores',
    from: 62,
    mutations: [
      {
        file: 'src/process-engine/process-checkpoints.ts',
        from: 'if (this.#writing === null || this.#options.signal.aborted) return Promise.resolve();',
        to: 'if (this.#writing === null) return Promise.resolve();',
      },
    ],
  },
  {
    title: 'a holder that counts on an expiry although it has sent a shorter one',
    problem: 'next to a newer one',
    from: 10,
    mutations: [
      {
        file: 'src/leases/held-time.ts',
        from: 'const expiryMs = Math.min(...[this.acknowledged, ...this.later].map((renewal) => renewal.expiryMs));',
        to: 'const { expiryMs } = this.acknowledged;',
      },
    ],
  },
  {
    title: 'a digest that is stored late over the one of another writer',
    problem: 'was overwritten',
    from: 1,
    mutations: [{ file: 'src/digests/digest-store.ts', from: "{ keep: 'existing' }", to: '{}' }],
  },
];

describe(`Simulated worlds of a copy of the service ${long}`, function () {
  this.timeout(600_000);

  for (const { title, problem, from, mutations } of copies)
    it(`find ${title}`, async () => {
      const output = await runWorldsOnCopy(mutations, { from, count, until: problem });
      const found = output.split('\n').find((line) => line.includes(problem));
      assert.ok(found, output);
      // The same world of the service itself shows nothing.
      const seed = Number(/--seed (\d+)/.exec(found)?.[1]);
      assert.deepEqual((await runWorld(seed)).problems, []);
    });
});
