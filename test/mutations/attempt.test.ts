import assert from 'node:assert/strict';
import { Attempts, type Outcome } from './attempt.ts';
import type { TestRun } from './mutated-tree.ts';

const passed: TestRun = { state: 'passed', file: null, title: null, message: null, seconds: 1, cpuSeconds: 1 };
const failedOf = (file: string): TestRun => ({
  ...passed,
  state: 'failed',
  file,
  title: 'it',
  message: 'wrong',
});
const tests = ['a.test.ts', 'b.test.ts', 'c.test.ts', 'd.test.ts', 'e.test.ts'];
const found = { state: 'found', how: 'failure', by: 'c.test.ts', title: 'it', message: 'wrong' };

type Run = (tests: ReadonlyArray<string>) => TestRun;

describe('an attempt to find a change', () => {
  it('names the test file that fails, of those that run together', async () => {
    const outcome = await outcomeOf((some) => (some.includes('c.test.ts') ? failedOf('c.test.ts') : passed));
    assert.deepEqual(outcome, found);
  });

  it('says how many files passed when none fails', async () => {
    assert.deepEqual(await outcomeOf(() => passed), { state: 'missed', tests: tests.length });
  });

  it('does not count a file that fails without the change, and tries the others', async () => {
    const run: Run = (some) => failedOf(some.includes('b.test.ts') ? 'b.test.ts' : 'c.test.ts');
    const outcome = await outcomeOf(
      (some) => (some.some((test) => 'bc'.includes(test.charAt(0))) ? run(some) : passed),
      (some) => (some.includes('b.test.ts') ? failedOf('b.test.ts') : passed),
    );
    assert.deepEqual(outcome, found);
  });

  it('counts a failure only if it comes again', async () => {
    let runs = 0;
    const outcome = await outcomeOf((some) => {
      runs += some.includes('c.test.ts') ? 1 : 0;
      return some.includes('c.test.ts') && runs === 1 ? failedOf('c.test.ts') : passed;
    });
    assert.deepEqual(outcome, { state: 'missed', tests: tests.length - 1 });
  });

  it('counts a file that fails to load', async () => {
    const loading: TestRun = { ...passed, state: 'failed' };
    const by = 'a.test.ts';
    assert.deepEqual(await outcomeOf(() => loading), {
      state: 'found',
      how: 'loading',
      by,
      title: null,
      message: null,
    });
  });

  it('counts a limit only if the file stays far below it without the change', async () => {
    const stopped: TestRun = { ...passed, state: 'stopped' };
    const by = 'a.test.ts';
    assert.deepEqual(await outcomeOf(() => stopped), { state: 'found', how: 'limit', by, title: null, message: null });
    const slow: TestRun = { ...passed, cpuSeconds: 15 };
    const outcome = await outcomeOf(
      (some) => (some.includes(by) ? stopped : passed),
      () => slow,
    );
    assert.deepEqual(outcome, { state: 'missed', tests: tests.length - 1 });
  });

  it('ends when its processor time is used', async () => {
    assert.deepEqual(await outcomeOf(() => ({ ...passed, cpuSeconds: 25 })), { state: 'missed', tests: 4 });
  });
});

function outcomeOf(changed: Run, unchanged: Run = () => passed): Promise<Outcome> {
  const tree = {
    run: async (some: ReadonlyArray<string>) => unchanged(some),
    runMutated: async (_: string, __: string, some: ReadonlyArray<string>) => changed(some),
  };
  return new Attempts(tree, new Map()).try({ file: 'src/a.ts', text: '', tests, cpuSeconds: 40 });
}
