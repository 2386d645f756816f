import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { long } from './long.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, root), 'utf8'));
const filesOf = (folder: string) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', folder], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => existsSync(new URL(file, root)));

describe('npm scripts test and test:long', () => {
  const { scripts } = read('package.json');
  const files = '--ignore "test/clients/**" "test/**/*.test.ts"';

  it('selects each test for exactly one of npm test and npm run test:long, by its mark alone', () => {
    assert.equal(scripts.test, `mocha --grep ${long} --invert ${files}`);
    assert.ok(scripts['test:long'].startsWith(`mocha --jobs 3 --grep ${long} ${files} && `));
    const { spec, ignore, exclude, grep, fgrep, invert } = read('.mocharc.json');
    assert.deepEqual(
      [spec, ignore, exclude, grep, fgrep, invert],
      Array(6).fill(undefined),
      'nothing else selects tests',
    );
  });

  it('finds every test file, because none lies outside the folder test', () => {
    for (const folder of ['src/', 'commands/', 'queries/', 'projections/', 'bench/'])
      assert.deepEqual(
        filesOf(folder).filter((file) => /\.(test|spec)\.[cm]?[jt]s$/.test(file)),
        [],
        folder,
      );
    const misnamed = filesOf('test/').filter((file) => /\.(spec\.[cm]?[jt]s|test\.[cm]?js)$/.test(file));
    assert.deepEqual(misnamed, []);
  });

  it('leaves the tests of official clients, and nothing else, to npm run test:clients', () => {
    assert.equal(
      scripts['test:clients'],
      'mocha --jobs 2 --ignore "test/clients/node_modules/**" "test/clients/**/*.test.ts"',
    );
    const tests = filesOf('test/clients/').filter((file) => file.endsWith('.test.ts'));
    const marked = tests.filter((file) => /\blong\b.*from /.test(readFileSync(new URL(file, root), 'utf8')));
    assert.deepEqual(marked, [], 'all run in one command');
  });

  it('runs npm test, npm run test:long and npm run test:clients in .ci/run', () => {
    const steps = readFileSync(new URL('.ci/run', root), 'utf8');
    assert.match(steps, /npm ci && npm test/);
    assert.match(steps, /^row .* npm run --silent test:long$/m);
    assert.match(steps, /^row .* npm --prefix test\/clients ci$/m);
    assert.match(steps, /^row .* npm run --silent test:clients$/m);
  });
});
