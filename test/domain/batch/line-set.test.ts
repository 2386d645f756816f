import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hasLine, linesIn, noLines, rangesOf, withLines } from '#domain/batch/line-set.ts';

describe('line sets', () => {
  it('contain only the added lines', () => {
    const lines = fc.uniqueArray(fc.integer({ min: 1, max: 5_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(lines, lines, (first, second) => {
        const set = withLines(withLines(noLines, rangesOf(first)), rangesOf(second));
        const all = new Set([...first, ...second]);
        for (let line = 1; line <= 5_001; line += 1) assert.equal(hasLine(set, line), all.has(line));
      }),
      { numRuns: 50 },
    );
  });

  it('are written as ranges in ascending order', () => {
    assert.equal(rangesOf([5, 1, 2, 3, 9]), '1-3,5,9');
    assert.equal(rangesOf([]), '');
    assert.deepEqual(linesIn('1-3,5,9'), [1, 2, 3, 5, 9]);
    assert.deepEqual(linesIn(''), []);
  });
});
