import assert from 'node:assert/strict';
import { noBins, quantileOf } from '#domain/usage/latency-bins.ts';

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

  it('returns null without latencies', () => {
    assert.equal(quantileOf(noBins, 0.5), null);
  });
});
