import assert from 'node:assert/strict';
import { Histogram, Registry } from 'prom-client';
import { LabelledHistogram } from '#shared/metrics/labelled-histogram.ts';

const options = { name: 'seconds', help: 'Time', labelNames: ['operation', 'status'], buckets: [0.1, 1] } as const;

const observed = [
  ['chat', 200, 0.05],
  ['chat', 200, 0.5],
  ['chat', 500, 0.1],
  ['200', 'chat', 30],
  ['chat', 200, 0],
] as const;

describe('LabelledHistogram', () => {
  it('gives the text that a histogram of prom-client gives for the same values', async () => {
    const [registry, expected] = [new Registry(), new Registry()];
    const histogram = new LabelledHistogram(registry, options);
    const other = new Histogram({
      ...options,
      labelNames: [...options.labelNames],
      buckets: [...options.buckets],
      registers: [expected],
    });
    for (const [operation, status, value] of observed) {
      histogram.observe([operation, status], value);
      other.observe({ operation, status }, value);
    }
    assert.equal(await registry.metrics(), await expected.metrics());
  });

  it('is in the text without values', async () => {
    const registry = new Registry();
    new LabelledHistogram(registry, options);
    assert.equal(await registry.metrics(), '# HELP seconds Time\n# TYPE seconds histogram\n');
  });

  it('shows the values that are added when it is about to be read', async () => {
    const registry = new Registry();
    const histogram = new LabelledHistogram(registry, {
      ...options,
      collect: () => histogram.observe(['chat', 200], 1),
    });
    assert.match(await registry.metrics(), /seconds_count\{operation="chat",status="200"\} 1/);
    assert.match(await registry.metrics(), /seconds_count\{operation="chat",status="200"\} 2/);
  });

  it('refuses a value that is not a number', () => {
    const histogram = new LabelledHistogram(new Registry(), options);
    assert.throws(() => histogram.observe(['chat', 200], Number.NaN), /not a valid number/);
  });
});
