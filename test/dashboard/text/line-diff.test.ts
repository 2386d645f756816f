import assert from 'node:assert/strict';
import { lineDiff } from '#dashboard/page/text/line-diff.ts';
import { wordChanges } from '#dashboard/page/text/parts-of-text.ts';

const lines = (...names: ReadonlyArray<string | number>) => names.join('\n');

describe('differences of texts on the dashboard', () => {
  it('shows removed and added lines with the line numbers of both sides', () => {
    const rows = lineDiff(lines('a', 'b', 'c'), lines('a', 'x', 'c', 'd'));
    assert.deepEqual(
      rows.map((row) => (row.kind === 'fold' ? row : [row.kind, row.before, row.after, row.text])),
      [
        ['same', 1, 1, 'a'],
        ['del', 2, null, 'b'],
        ['add', null, 2, 'x'],
        ['same', 3, 3, 'c'],
        ['add', null, 4, 'd'],
      ],
    );
  });

  it('folds equal lines, except three around each difference', () => {
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    const rows = lineDiff(lines(...numbers), lines(...numbers.with(15, 99)));
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ['fold', 'same', 'same', 'same', 'del', 'add', 'same', 'same', 'same', 'fold'],
    );
    const folded = rows.flatMap((row) => (row.kind === 'fold' ? [row.count] : []));
    assert.equal(folded.reduce((sum, count) => sum + count, 0) + rows.length - folded.length, 31);
  });

  it('shows no difference between equal texts', () => {
    assert.deepEqual(lineDiff('a\nb', 'a\nb'), [{ kind: 'fold', count: 2 }]);
  });

  it('marks the replaced words of a sentence', () => {
    const parts = wordChanges('Is it on the card of Kestrel?', 'Is it on our card?');
    assert.equal(
      parts
        .filter(({ kind }) => kind !== 'ins')
        .map(({ text }) => text)
        .join('')
        .replace(/ +/g, ' '),
      'Is it on the card of Kestrel?',
    );
    assert.deepEqual(
      parts.filter(({ kind }) => kind === 'ins').map(({ text }) => text),
      ['our'],
    );
  });
});
