import assert from 'node:assert/strict';
import { type AttemptReport, TargetHealth } from '#gateway/health/target-health.ts';

describe('TargetHealth', () => {
  let now = 0;
  let health: TargetHealth;
  const target = { id: 'p/x', provider: 'p', model: 'x' };
  const add = (given: Partial<AttemptReport> = {}) =>
    health.add({ target, result: 'served', error: null, durationMs: 100, requestId: 'r1', ...given });

  beforeEach(() => {
    now = 1_000_000;
    health = new TargetHealth(() => now);
  });

  it('computes the success rate from served and failed attempts, without refusals and clients that left', () => {
    for (const result of ['served', 'served', 'served', 'failed', 'refused', 'abandoned'] as const) add({ result });
    const { attempts, successRate } = health.record('p/x');
    assert.deepEqual(attempts, { served: 3, failed: 1, refused: 1, abandoned: 1 });
    assert.equal(successRate, 0.75);
  });

  it('states latencies of served attempts within two percent', () => {
    for (let durationMs = 1; durationMs <= 100; durationMs += 1) add({ durationMs });
    add({ result: 'failed', durationMs: 60_000 });
    const { p50Ms, p95Ms } = health.record('p/x');
    assert.ok(Math.abs((p50Ms ?? 0) - 50) <= 2 && Math.abs((p95Ms ?? 0) - 95) <= 3, `${p50Ms} ${p95Ms}`);
  });

  it('counts the slowest of a few attempts for the 95th percentile', () => {
    for (const durationMs of [100, 100, 900]) add({ durationMs });
    const { p50Ms, p95Ms } = health.record('p/x');
    assert.ok(Math.abs((p50Ms ?? 0) - 100) <= 2 && Math.abs((p95Ms ?? 0) - 900) <= 18, `${p50Ms} ${p95Ms}`);
  });

  it('forgets attempts after five minutes, and keeps the last failure', () => {
    add({ result: 'failed', error: { code: 'http_500', status: 500 } });
    now += 200_000;
    add();
    assert.equal(health.record('p/x').successRate, 0.5);
    now += 150_000;
    assert.equal(health.record('p/x').successRate, 1);
    now += 150_000;
    const { successRate, lastFailure } = health.record('p/x');
    assert.equal(successRate, null);
    assert.deepEqual(lastFailure, {
      time: new Date(1_000_000).toISOString(),
      code: 'http_500',
      status: 500,
      requestId: 'r1',
    });
  });

  it('forgets targets that are no longer configured', () => {
    add();
    health.keepOnly(new Set(['other/y']));
    assert.equal(health.record('p/x').attempts.served, 0);
  });
});
