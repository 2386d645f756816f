import type { MutatedTree, TestRun } from './mutated-tree.ts';

/** A changed file, and the tests that may find its change, in the order in which they are tried. */
export interface Attempt {
  readonly file: string;
  readonly text: string;
  readonly tests: ReadonlyArray<string>;
  readonly cpuSeconds: number;
}

/** What the tests made of a change. Tests find it too if they fail to load, or come to no end. */
export type Outcome =
  | { readonly state: 'missed'; readonly tests: number }
  | {
      readonly state: 'found';
      readonly how: 'failure' | 'loading' | 'limit';
      readonly by: string;
      readonly title: string | null;
      readonly message: string | null;
    };

type Found = Extract<Outcome, { state: 'found' }>;

/** The nearest tests run first, because a process with few files starts faster. */
const sizesOfBatches = [1, 3, 6];
const maxCpuSecondsOfFile = 20;
/** A file without the change must take less than this share of the limit, or reaching the limit shows nothing. */
const maxShareUnchanged = 1 / 4;

/** Tries changes in a copy of the repository. A test counts only if it passes without the change. */
export class Attempts {
  readonly #tree: Pick<MutatedTree, 'run' | 'runMutated'>;
  readonly #unchanged: Map<string, Promise<TestRun>>;

  /** @param unchanged runs of single test files without a change, which several copies share */
  constructor(tree: Pick<MutatedTree, 'run' | 'runMutated'>, unchanged: Map<string, Promise<TestRun>>) {
    this.#tree = tree;
    this.#unchanged = unchanged;
  }

  async try({ file, text, tests, cpuSeconds }: Attempt): Promise<Outcome> {
    let left = cpuSeconds;
    let passed = 0;
    let waiting = tests;
    for (let batches = 0; waiting.length > 0 && left > 0; ) {
      const batch = waiting.slice(0, sizesOfBatches[batches] ?? sizesOfBatches.at(-1));
      const run = await this.#tree.runMutated(file, text, batch, Math.min(left, limitOf(batch)));
      left -= run.cpuSeconds;
      if (run.state === 'passed') {
        batches += 1;
        passed += batch.length;
        waiting = waiting.slice(batch.length);
        continue;
      }
      const suspect = batch.find((test) => test === run.file) ?? (batch[0] as string);
      const found = await this.#confirm(suspect, () =>
        this.#tree.runMutated(file, text, [suspect], limitOf([suspect])),
      );
      if (found !== null) return found;
      waiting = waiting.filter((test) => test !== suspect);
    }
    return { state: 'missed', tests: passed };
  }

  /** Whether a test file finds a change: it passes without the change, and fails again with it. A busy machine fails tests, too. */
  async #confirm(by: string, runAlone: () => Promise<TestRun>): Promise<Found | null> {
    const unchanged = await this.#runUnchanged(by);
    if (unchanged.state !== 'passed') return null;
    const { state, title, message } = await runAlone();
    if (state === 'passed') return null;
    if (state === 'failed') return { state: 'found', how: title === null ? 'loading' : 'failure', by, title, message };
    const isSlowAnyway = unchanged.cpuSeconds > maxCpuSecondsOfFile * maxShareUnchanged;
    return isSlowAnyway ? null : { state: 'found', how: 'limit', by, title, message };
  }

  #runUnchanged(test: string): Promise<TestRun> {
    const known = this.#unchanged.get(test);
    if (known !== undefined) return known;
    const run = this.#tree.run([test], limitOf([test]));
    this.#unchanged.set(test, run);
    return run;
  }
}

function limitOf(tests: ReadonlyArray<string>): number {
  return tests.length * maxCpuSecondsOfFile;
}
