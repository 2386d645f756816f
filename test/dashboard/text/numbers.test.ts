import assert from 'node:assert/strict';
import {
  countOf,
  formatCount,
  formatDuration,
  formatFigure,
  formatMoney,
  formatMs,
  percentOf,
  roundTop,
} from '#dashboard/page/text/numbers.ts';

describe('numbers of the dashboard', () => {
  it('shows counts in full in tables, and a dash when a figure does not apply', () => {
    assert.deepEqual([formatCount(1_142_806), formatCount(0), formatCount(null)], ['1,142,806', '0', '–']);
  });

  it('shows figures with three or four digits', () => {
    const shown = [1_284, 9.83, 12.41, 120.6, 0, 1_142_806, 48_213].map(formatFigure);
    assert.deepEqual(shown, ['1,284', '9.8', '12.4', '121', '0', '1.143M', '48.21K']);
  });

  it('shows milliseconds up to 9,999 in tables, and seconds with one decimal from two seconds on in figures', () => {
    assert.deepEqual([formatMs(1_890), formatMs(9_999), formatMs(12_340)], ['1,890', '9,999', '12.3 s']);
    assert.deepEqual([850, 1_999, 5_400, 492_000].map(formatDuration), ['850 ms', '1,999 ms', '5.4 s', '8 min 12 s']);
  });

  it('shows money with two decimals, and never a small amount as zero', () => {
    assert.deepEqual([171.2, 0, 0.001, null].map(formatMoney), ['171.20', '0.00', '< 0.01', '–']);
  });

  it('counts things in words', () => {
    assert.deepEqual(
      [0, 1, 1_200].map((count) => countOf(count, 'flow')),
      ['no flows', '1 flow', '1,200 flows'],
    );
  });

  it('shows no percentage of zero', () => {
    assert.deepEqual([percentOf(1, 250), percentOf(0, 0)], [0.4, null]);
  });

  it('ends an axis at a round number that no value exceeds', () => {
    for (const maximum of [0.3, 1, 7, 46, 1_352, 99_999]) assert.ok(roundTop(maximum) >= maximum);
    assert.deepEqual([1_352, 46, 0].map(roundTop), [1_600, 50, 1]);
  });
});
