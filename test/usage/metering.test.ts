import assert from 'node:assert/strict';
import type { UsageEvents } from '#domain/usage/events.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import type { LoggedCall } from '#usage/call-log/call-log.ts';
import { openMetering } from '#usage/metering.ts';
import { callRecord } from './call-records.ts';

describe('Metering', () => {
  it('measures calls when its metrics are read, and records them when it closes', async () => {
    const metrics = createMetrics();
    const events = new AppendableEventStore();
    const write = () => undefined;
    const log = { info: write, warn: write, error: write };
    const stored: LoggedCall[] = [];
    const calls = { add: async (added: ReadonlyArray<LoggedCall>) => void stored.push(...added) };
    const metering = openMetering({ events, calls, node: 'n1', log, registry: metrics.registry });
    metering.usage.record(callRecord());
    metering.usage.record(callRecord());
    assert.match(await metrics.text(), /gen_ai_client_operation_duration_seconds_count{.*} 2\n/);
    await metering.close();
    const [event] = events.log;
    const data = event?.data as unknown as UsageEvents['UsageRecorded'] | undefined;
    assert.deepEqual(
      data?.usage.map(({ calls }) => calls),
      [2],
    );
    assert.equal(stored.length, 2);
    assert.match(await metrics.text(), /gen_ai_client_operation_duration_seconds_count{.*} 2\n/);
    metrics.close();
  });
});
