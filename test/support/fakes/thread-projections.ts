import { existsSync, rmSync } from 'node:fs';
import { type AnyProjection, ignored, projection } from '#projection-engine/projection.ts';

interface Counter {
  readonly count: number;
}

interface CounterEvents {
  readonly Counted: { readonly id: string };
  readonly Poisoned: { readonly id: string };
  /** Kills the thread that handles it, once: as long as the file is there. */
  readonly ThreadKilled: { readonly id: string; readonly whileThere: string };
}

/** What the tests of the projector thread project. */
export const projections: ReadonlyArray<AnyProjection> = [
  projection<Counter, CounterEvents>({
    name: 'counters',
    version: 1,
    keys: ({ data }) => [data.id],
    on: {
      Counted: (counter) => ({ count: (counter?.count ?? 0) + 1 }),
      Poisoned: ignored,
      ThreadKilled: (counter, { data }) => {
        if (!existsSync(data.whileThere)) return counter;
        rmSync(data.whileThere);
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
