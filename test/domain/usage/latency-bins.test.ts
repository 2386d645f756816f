import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  addBins,
  binsOf,
  countLatencies,
  LatencySketch,
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
    assert.deepEqual(
      [countLatencies(noBins), countLatencies(three), countLatencies(addBins(three, [3, 9]))],
      [0, 3, 12],
    );
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
      countLatencies(
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

describe('LatencySketch and quantileOf', () => {
  const sketchOf = (latencies: ReadonlyArray<number>) => {
    const sketch = new LatencySketch();
    for (const each of latencies) sketch.add(each);
    return sketch;
  };
  const latencies = fc.array(fc.double({ min: 0.01, max: 700_000, noNaN: true }), { minLength: 1, maxLength: 200 });
  const part = fc.double({ min: 0, max: 1, noNaN: true });

  /** Checks that a quantile is within the accuracy of the exact one, apart from its rounding to the tenth. */
  const assertQuantile = (sketch: LatencySketch, exactOf: ReadonlyArray<number>, of: number) => {
    const rank = Math.max(0, Math.ceil(of * exactOf.length) - 1);
    const exact = exactOf.toSorted((one, other) => one - other)[rank] ?? Number.NaN;
    const found = quantileOf(binsOf(sketch.distribution(), relativeAccuracy), of) ?? Number.NaN;
    assert.ok(Math.abs(found - exact) <= exact * relativeAccuracy + 0.050_001, `${found} for ${exact}`);
  };

  it('find every quantile within the accuracy', () => {
    fc.assert(fc.property(latencies, part, (given, of) => assertQuantile(sketchOf(given), given, of)));
  });

  it('find every quantile within the accuracy after sketches are merged', () => {
    fc.assert(
      fc.property(latencies, latencies, part, (some, others, of) => {
        const merged = sketchOf(some);
        merged.merge(sketchOf(others).distribution());
        assertQuantile(merged, [...some, ...others], of);
      }),
    );
  });

  it('count latencies in the bins in which earlier releases have stored them', () => {
    const stored: ReadonlyArray<[latencyMs: number, bin: number]> = [
      [0.001, -172],
      [0.5, -17],
      [1, 0],
      [52, 99],
      [820.5, 168],
      [3_000, 201],
      [60_000, 276],
      [700_000, 337],
    ];
    for (const [latency, bin] of stored) assert.deepEqual(sketchOf([latency]).distribution()?.bins, [[bin, 1]]);
  });
});
