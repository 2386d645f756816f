import assert from 'node:assert/strict';
import { CircuitBreaker } from '#gateway/health/circuit-breaker.ts';
import type { AttemptReport, CircuitChange } from '#gateway/health/target-health.ts';
import { AttemptRecorder } from '#gateway/relay/targets.ts';

const target = { id: 'p/x', provider: 'p', model: 'x' } as never;

describe('AttemptRecorder', () => {
  it('reports the time from the start of an attempt to its end', async () => {
    const reports: AttemptReport[] = [];
    const observer = { attempt: (report: AttemptReport) => void reports.push(report), circuit: () => undefined };
    const recorder = new AttemptRecorder(new CircuitBreaker(), observer, { id: 'request-1', startedAt: 0 });
    const before = performance.now();
    recorder.start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    recorder.recordSuccess(target, 200);
    const most = performance.now() - before;
    const [{ durationMs } = assert.fail('nothing was reported')] = reports;
    assert.ok(durationMs >= 15 && durationMs <= most, `${durationMs} of ${most} ms`);
  });

  it('closes an open circuit, and reports it once, when content of its target arrives', () => {
    const states: string[] = [];
    const observer = { attempt: () => undefined, circuit: ({ state }: CircuitChange) => void states.push(state) };
    const breaker = new CircuitBreaker();
    const recorder = new AttemptRecorder(breaker, observer, { id: 'request-1', startedAt: 0 });
    breaker.open('p/x', 60_000);
    recorder.start();
    recorder.recordContent(target);
    recorder.recordContent(target);
    assert.deepEqual(states, ['closed']);
    assert.equal(breaker.isOpen('p/x'), false);
  });
});
