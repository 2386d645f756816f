import assert from 'node:assert/strict';
import { createMetrics, type Metrics } from '#http/routes/metrics.ts';
import { type AttemptMetrics, createAttemptMetrics } from '#usage/call-metrics.ts';

describe('metrics of attempts', () => {
  let metrics: Metrics;
  let attempts: AttemptMetrics;
  const report = (id: string, code: string) => {
    const target = { id, provider: 'p', model: 'm' };
    attempts.attempt({ target, result: 'failed', error: { code, status: 500 }, durationMs: 1, requestId: 'r' });
  };
  const lines = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('switchyard_gateway_attempts_total{'));

  beforeEach(() => {
    metrics = createMetrics();
    attempts = createAttemptMetrics(metrics.registry);
  });
  afterEach(() => metrics.close());

  it('hold a bounded number of targets and errors', async () => {
    for (let index = 0; index < 1_000; index += 1) report(`p/m${index}`, `e${index}`);
    const counts = await lines();
    assert.equal(counts.length, 501);
    assert.equal(new Set(counts.map((line) => /error_type="([^"]*)"/.exec(line)?.[1])).size, 101);
    assert.ok(counts.some((line) => line.includes('target="_OTHER"') && line.endsWith(' 500')));
  });

  it('hold no text that a provider wrote', async () => {
    report('p/m', 'call me at +49 30 1234');
    assert.match((await lines())[0] ?? '', /error_type="_OTHER"} 1$/);
  });

  it('forget the circuits of targets that are no longer configured', async () => {
    let targets = [{ target: 'p/a', circuit: 'half-open' as const }];
    attempts.watchTargets(() => targets);
    assert.match(await metrics.text(), /switchyard_gateway_circuit_open{target="p\/a"} 1\n/);
    targets = [];
    assert.doesNotMatch(await metrics.text(), /switchyard_gateway_circuit_open{/);
  });
});
