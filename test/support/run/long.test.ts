import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { long } from './long.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, root), 'utf8'));
const filesOf = (folder: string) => readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' });

describe('npm test and npm run test:long', () => {
  const { scripts } = read('package.json');
  const files = '"test/**/*.test.ts"';

  it('run each test of each test file in exactly one of the two: by its mark', () => {
    assert.equal(scripts.test, `mocha --grep ${long} --invert ${files}`);
    assert.ok(scripts['test:long'].startsWith(`mocha --grep ${long} ${files} && `));
    const { spec, ignore, exclude, grep, fgrep, invert } = read('.mocharc.json');
    assert.deepEqual(
      [spec, ignore, exclude, grep, fgrep, invert],
      Array(6).fill(undefined),
      'nothing else selects tests',
    );
  });

  it('find every test file: none lies outside of their folder', () => {
    for (const folder of ['src/', 'commands/', 'queries/', 'projections/', 'bench/'])
      assert.deepEqual(
        filesOf(folder).filter((file) => /\.(test|spec)\.[cm]?[jt]s$/.test(file)),
        [],
        folder,
      );
    const misnamed = filesOf('test/').filter((file) => /\.(spec\.[cm]?[jt]s|test\.[cm]?js)$/.test(file));
    assert.deepEqual(misnamed, []);
  });

  it('are both part of what decides whether a change lands', () => {
    const steps = readFileSync(new URL('.ci/run', root), 'utf8');
    assert.match(steps, /npm ci && npm test/);
    assert.match(steps, /^npm run --silent test:long$/m);
  });
});
