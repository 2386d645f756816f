import assert from 'node:assert/strict';
import { BackOff, backOffMs, spread } from '#shared/async/retrying.ts';

const limits = { firstMs: 100, maxMs: 450 };
const almostOne = 1 - Number.EPSILON;

describe('BackOff', () => {
  it('doubles the wait after each failure, up to the limit', () => {
    const waits = [1, 2, 3, 4, 5].map((failures) => backOffMs(failures, limits, almostOne));
    assert.deepEqual(waits, [100, 200, 400, 450, 450]);
  });

  it('stays at the limit after any number of failures', () => {
    assert.equal(backOffMs(100_000, limits, almostOne), 450);
  });

  it('waits at least half of the time, in whole milliseconds', () => {
    assert.deepEqual(
      [0, 0.25, 0.5].map((random) => backOffMs(1, { firstMs: 5, maxMs: 10 }, random)),
      [3, 3, 4],
    );
    assert.deepEqual([spread(100, 0), spread(100, 0.5)], [50, 75]);
  });

  it('counts the failures in a row', () => {
    const backOff = new BackOff(limits, () => almostOne);
    assert.deepEqual([backOff.failed(), backOff.failed(), backOff.failed()], [100, 200, 400]);
    backOff.succeeded();
    assert.deepEqual([backOff.failed(), backOff.failed()], [100, 200]);
  });

  it('spreads its waits at random by default', () => {
    const waits = new Set(Array.from({ length: 100 }, () => new BackOff({ firstMs: 10_000, maxMs: 10_000 }).failed()));
    assert.ok(waits.size > 1);
    for (const wait of waits) assert.ok(wait >= 5_000 && wait <= 10_000, `${wait} ms`);
  });
});
