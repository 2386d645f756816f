import assert from 'node:assert/strict';
import {
  addBins,
  binsOf,
  countOf,
  noBins,
  noLatencies,
  quantileOf,
  relativeAccuracy,
} from '#domain/usage/latency-bins.ts';

/** Two latencies of about 52 ms and one of about 56 ms: the bins 98 to 100. */
const three = [98, 2, 0, 1];

describe('quantileOf', () => {
  it('returns the slowest of a few latencies as the 99th percentile', () => {
    assert.ok(Number(quantileOf(three, 0.99)) > Number(quantileOf(three, 0.5)));
    assert.equal(quantileOf(three, 0.99), quantileOf(three, 1));
  });

  it('returns the latency at the nearest rank', () => {
    assert.equal(quantileOf(three, 0.5), quantileOf(three, 0));
    const hundred = [98, 99, 0, 1];
    assert.equal(quantileOf(hundred, 0.99), quantileOf(hundred, 0));
    assert.ok(Number(quantileOf(hundred, 1)) > Number(quantileOf(hundred, 0.99)));
  });

  it('returns the middle of a bin in ms, to the tenth', () => {
    assert.deepEqual(
      [0, 0.5, 0.67, 1].map((part) => quantileOf(three, part)),
      [49.4, 49.4, 53.5, 53.5],
    );
    assert.equal(quantileOf([0, 1], 0.5), 1);
  });

  it('returns null without latencies', () => {
    assert.equal(quantileOf(noBins, 0.5), null);
  });
});

describe('addBins', () => {
  it('adds the latencies of two sketches, bin by bin, whichever comes first', () => {
    assert.deepEqual(addBins([98, 2, 0, 1], [100, 4, 3]), [98, 2, 0, 5, 3]);
    assert.deepEqual(addBins([100, 4, 3], [98, 2, 0, 1]), [98, 2, 0, 5, 3]);
    assert.deepEqual(addBins([5, 1], [8, 1]), [5, 1, 0, 0, 1]);
    assert.deepEqual([addBins(noBins, three), addBins(three, noBins)], [three, three]);
  });

  it('subtracts so that what is left equals the sketch of the same latencies, without empty bins at its ends', () => {
    const sum = addBins([98, 2, 0, 1], [96, 7, 0, 0, 0, 0, 3]);
    assert.deepEqual(addBins(sum, [96, 7, 0, 0, 0, 0, 3], -1), [98, 2, 0, 1]);
    assert.deepEqual(addBins(sum, [98, 2, 0, 1], -1), [96, 7, 0, 0, 0, 0, 3]);
    assert.deepEqual(addBins(three, three, -1), noBins);
  });

  it('counts every latency once', () => {
    assert.deepEqual([countOf(noBins), countOf(three), countOf(addBins(three, [3, 9]))], [0, 3, 12]);
  });
});

describe('binsOf', () => {
  const recorded = (bins: [number, number][]) => ({ ...noLatencies, bins });

  it('fills the gaps between recorded bins', () => {
    assert.deepEqual(
      binsOf(
        recorded([
          [98, 2],
          [100, 1],
        ]),
        relativeAccuracy,
      ),
      three,
    );
    assert.deepEqual(binsOf(recorded([[-2, 3]]), relativeAccuracy), [-2, 3]);
  });

  it('has none without latencies', () => {
    assert.deepEqual([binsOf(null, relativeAccuracy), binsOf(noLatencies, relativeAccuracy)], [noBins, noBins]);
    assert.deepEqual(binsOf(noLatencies, 0.05), noBins);
  });

  it('converts bins of another accuracy to bins of the same latencies', () => {
    // These bins of a sketch within five percent are around 52.0 and 57.5 ms.
    assert.deepEqual(
      binsOf(
        recorded([
          [40, 2],
          [41, 1],
        ]),
        0.05,
      ),
      [99, 2, 0, 0, 1],
    );
    assert.equal(
      countOf(
        binsOf(
          recorded([
            [1, 2],
            [2, 3],
            [3, 4],
          ]),
          0.001,
        ),
      ),
      9,
      'several fall into one bin',
    );
  });
});
