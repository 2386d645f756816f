import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { watchVerification } from '#app/verification/verification-metrics.ts';
import type { LogVerification } from '#domain/history/verification.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const found: LogVerification = {
  time: '2026-01-05T12:00:00.000Z',
  wholeTime: null,
  events: 7,
  digest: null,
  findings: ['one', 'other'],
  findingCount: 2,
};
const timeOf = (text: string) => /^switchyard_log_verification_timestamp_seconds (\S+)$/m.exec(text)?.[1] ?? null;
const findingsOf = (text: string) => /^switchyard_log_verification_findings (\S+)$/m.exec(text)?.[1] ?? null;

describe('the metrics of the daily verification', () => {
  let registry: Registry;
  let last: LogVerification | null;
  let time: number | null;
  let isDown: boolean;

  beforeEach(() => {
    registry = new Registry();
    [last, time, isDown] = [null, null, false];
    const read = async <Value>(value: Value) => {
      if (isDown) throw new UnavailableError('The store does not answer.');
      return value;
    };
    watchVerification(registry, { last: () => read(last), verifiedTime: () => read(time) });
  });

  it('have no value on a first start, at the first reading too', async () => {
    for (let reading = 0; reading < 2; reading += 1) {
      const text = await registry.metrics();
      assert.deepEqual([timeOf(text), findingsOf(text)], [null, null]);
    }
  });

  it('have the stored values at the first reading after a restart', async () => {
    [last, time] = [found, Date.parse(found.time)];
    const text = await registry.metrics();
    assert.deepEqual([timeOf(text), findingsOf(text)], [String(Date.parse(found.time) / 1_000), '2']);
  });

  it('say since when a log that was never verified can be', async () => {
    time = Date.parse(found.time);
    const text = await registry.metrics();
    assert.deepEqual([timeOf(text), findingsOf(text)], [String(time / 1_000), null]);
  });

  it('have no value while the store is unavailable, and the stored ones after it', async () => {
    [last, time] = [found, Date.parse(found.time)];
    await registry.metrics();
    isDown = true;
    assert.equal(timeOf(await registry.metrics()), null);
    isDown = false;
    assert.notEqual(timeOf(await registry.metrics()), null);
  });

  it('raise the alarm only when they stay old, because a start after a long stop verifies first', () => {
    const { groups } = parse(readFileSync('deployment/prometheus-alerts.yml', 'utf8')) as {
      groups: ReadonlyArray<{ rules: ReadonlyArray<{ alert: string; expr: string; for?: string }> }>;
    };
    const rule = groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === 'SwitchyardLogNotVerified');
    assert.equal(rule?.expr, 'time() - max(switchyard_log_verification_timestamp_seconds) > 172800');
    assert.equal(rule?.for, '6h');
  });
});
