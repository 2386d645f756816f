import { existsSync, rmSync } from 'node:fs';
import { type AnyProjection, ignored, projection } from '#projection-engine/projection.ts';

interface Counter {
  readonly count: number;
}

interface CounterEvents {
  readonly Counted: { readonly id: string };
  readonly Poisoned: { readonly id: string };
  /** Kills the thread that handles it if `killFile` exists, and removes the file first. */
  readonly ThreadKilled: { readonly id: string; readonly killFile: string };
}

/** The projections that the tests of the projection thread run. */
export const projections: ReadonlyArray<AnyProjection> = [
  projection<Counter, CounterEvents>({
    name: 'counters',
    version: 1,
    keys: ({ data }) => [data.id],
    on: {
      Counted: (counter) => ({ count: (counter?.count ?? 0) + 1 }),
      Poisoned: ignored,
      ThreadKilled: (counter, { data }) => {
        if (!existsSync(data.killFile)) return counter;
        rmSync(data.killFile);
        process.exit(7);
      },
    },
    indexes: [],
  }),
  projection<Counter, CounterEvents>({
    name: 'fragile',
    version: 1,
    keys: ({ data }) => [data.id],
    on: {
      Counted: (counter) => ({ count: (counter?.count ?? 0) + 1 }),
      Poisoned: () => {
        throw new Error('It is poisoned.');
      },
      ThreadKilled: ignored,
    },
    indexes: [],
  }),
];
