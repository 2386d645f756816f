import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const folders = ['src', 'commands', 'queries', 'projections'];
/** A longer file has more than one concept, or a concept that has parts. */
const maxLinesOfCode = 350;

describe('a file of code', () => {
  it(`has at most ${maxLinesOfCode} lines, without comments and blank lines`, () => {
    const listed = execFileSync('git', ['ls-files', '--', ...folders], { cwd: root, encoding: 'utf8' });
    const files = listed.split('\n').filter((file) => /\.(?:ts|mjs|js)$/.test(file));
    const present = files.filter((file) => existsSync(join(root, file)));
    const lengths = present.map((file) => ({ file, lines: linesOfCode(readFileSync(join(root, file), 'utf8')) }));
    assert.deepEqual(
      lengths.filter(({ lines }) => lines > maxLinesOfCode),
      [],
    );
  });

  it('has lines that are no code', () => {
    assert.equal(linesOfCode('/**\n * Why.\n */\n\nconst a = 1; // One.\n  // Two.\nconst b = 2;\n'), 2);
  });
});

/** The lines that the formatter begins with neither a comment nor the inside of one. */
function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/\*|\*(?:[\s/]|$))/.test(line)).length;
}
