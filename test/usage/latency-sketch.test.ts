import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { LatencyDistribution } from '#domain/usage/events.ts';
import { LatencySketch, relativeAccuracy } from '#domain/usage/latency-bins.ts';

/** Computes a quantile only from the stored form that the event's codec describes. */
function quantile({ count, bins }: LatencyDistribution, of: number): number {
  const gamma = (1 + relativeAccuracy) / (1 - relativeAccuracy);
  let left = Math.floor(of * (count - 1));
  for (const [index, inBin] of bins) {
    if (left < inBin) return (2 * gamma ** index) / (gamma + 1);
    left -= inBin;
  }
  return assert.fail('the bins hold less than the count');
}

const sketchOf = (latencies: ReadonlyArray<number>): LatencyDistribution => {
  const sketch = new LatencySketch();
  for (const each of latencies) sketch.add(each);
  return sketch.distribution() ?? assert.fail('nothing was kept');
};

describe('LatencySketch', () => {
  it('has no quantile without values', () => {
    assert.equal(new LatencySketch().distribution(), null);
  });

  it('gives every quantile within its accuracy, from its stored form', () => {
    const latency = fc.double({ min: 0.01, max: 700_000, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(latency, { minLength: 1, maxLength: 300 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (latencies, of) => {
          const stored = JSON.parse(JSON.stringify(sketchOf(latencies))) as LatencyDistribution;
          const exact = latencies.toSorted((a, b) => a - b)[Math.floor(of * (latencies.length - 1))] ?? Number.NaN;
          const found = quantile(stored, of);
          assert.ok(Math.abs(found - exact) <= exact * relativeAccuracy * 1.000_001, `${found} for ${exact}`);
        },
      ),
    );
  });

  it('merges by adding bins', () => {
    const latencies = fc.array(fc.double({ min: 0.01, max: 10_000, noNaN: true }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(latencies, latencies, (one, other) => {
        const bins = new Map<number, number>();
        for (const [index, count] of [...sketchOf(one).bins, ...sketchOf(other).bins])
          bins.set(index, (bins.get(index) ?? 0) + count);
        const merged = [...bins].toSorted(([left], [right]) => left - right);
        assert.deepEqual(merged, sketchOf([...one, ...other]).bins);
      }),
    );
  });

  it('counts values that are too short to measure', () => {
    assert.deepEqual(sketchOf([0, 0]), { count: 2, sum: 0.002, min: 0.001, max: 0.001, bins: [[-172, 2]] });
  });
});
