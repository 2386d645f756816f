import assert from 'node:assert/strict';
import { ImportGraph } from './importers.ts';
import type { Result } from './results.ts';
import { testsToTry } from './tests-to-try.ts';

const file = 'src/keys.ts';
const load = "import '../src/keys.ts';\n";
const graph = new ImportGraph(
  [
    { path: file, text: '' },
    { path: 'test/keys.test.ts', text: load },
    { path: 'test/other.test.ts', text: load },
    { path: 'test/moved.test.ts', text: `${load}it('refuses a key that is revoked', () => {});` },
    { path: 'test/e2e/keys.test.ts', text: load.replace('../', '../../') },
  ],
  {},
);

function inOrder(earlier?: Result): ReadonlyArray<string> {
  return testsToTry(graph, file, earlier).flatMap(({ tests }) => tests);
}

function foundBy(by: string, title: string): Result {
  const outcome = { state: 'found', how: 'failure', by, title, message: null } as const;
  return { id: 1, file, operator: 'remove a call', ...outcome, changedFile: file, seconds: 1 };
}

describe('testsToTry', () => {
  it('begins with the tests in the same process, and ends with those that start another one', () => {
    const tests = inOrder();
    assert.equal(tests[0], 'test/keys.test.ts');
    assert.equal(tests.at(-1), 'test/e2e/keys.test.ts');
    assert.equal(tests.length, 4);
  });

  it('begins with the test file that found the change before', () => {
    assert.equal(inOrder(foundBy('test/e2e/keys.test.ts', 'keys work'))[0], 'test/e2e/keys.test.ts');
  });

  it('begins with the test of the same title if its file has another name now', () => {
    assert.equal(inOrder(foundBy('test/gone.test.ts', 'keys refuses a key that is revoked'))[0], 'test/moved.test.ts');
  });
});
