import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { proseOf } from './prose.ts';
import { stylePatterns } from './style-patterns.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Our own prose. A changelog's released entries and decisions of the past stay as they were written. */
const files = globSync(
  [
    '{src,commands,queries,projections,examples}/**/*.{ts,mjs,cjs}',
    'docs/*.md',
    'docs/adr/*.md',
    '{README,CONTRIBUTING,SECURITY}.md',
    'deployment/**/*.{md,yml,yaml,service}',
  ],
  { cwd: root },
).sort();

const testFiles = globSync('{test,bench}/**/*.{ts,mjs}', { cwd: root, exclude: ['**/node_modules/**'] }).sort();

describe('the style of prose', () => {
  for (const { name, pattern, matches, allows } of stylePatterns) {
    it(`finds ${name}, and nothing that only looks like it`, () => {
      for (const sentence of matches) assert.match(sentence, pattern);
      for (const sentence of allows) assert.doesNotMatch(sentence, pattern);
    });
  }

  it('has none of these constructions', function () {
    // It parses every file of the repository.
    this.timeout(60_000);
    assert.ok(files.length > 500, `only ${files.length} files were found`);
    const prose = files.flatMap((file) => proseOf(root, file));
    const comments = [...prose, ...testFiles.flatMap((file) => proseOf(root, file))].filter((each) => !each.isMessage);
    const found = stylePatterns.flatMap(({ name, pattern, instead, isForCommentsAlone = false }) =>
      (isForCommentsAlone ? comments : prose).flatMap(({ file, line, text }) => {
        const [part] = pattern.exec(text) ?? [];
        return part === undefined ? [] : [`${file}:${line}: "${part}" (${name}): ${instead}`];
      }),
    );
    assert.equal(found.join('\n'), '');
  });
});
