import assert from 'node:assert/strict';
import { OpenedParts } from '#app/opened-parts.ts';
import type { UsageEvents } from '#domain/usage/events.ts';
import { Admission } from '#exchange/admission.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';
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
    const metering = openMetering({
      admission: new Admission(),
      events,
      calls,
      node: 'n1',
      log,
      registry: metrics.registry,
    });
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

  it('stores the calls on a slow store although work of the node does not end when it stops', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const metrics = createMetrics();
    const store = new AppendableEventStore();
    const write = () => undefined;
    const log = { info: write, warn: write, error: write };
    const slow = async <Answer>(answer: () => Promise<Answer>) => {
      await delay(1_000);
      return answer();
    };
    const stored: LoggedCall[] = [];
    const calls = { add: (added: ReadonlyArray<LoggedCall>) => slow(async () => void stored.push(...added)) };
    const events = { append: (...given: Parameters<typeof store.append>) => slow(() => store.append(...given)) };
    const metering = openMetering({
      admission: new Admission(),
      events,
      calls,
      node: 'n1',
      log,
      registry: metrics.registry,
    });
    const opened = new OpenedParts();
    opened.addBuffer('metering', metering);
    opened.addWork('batches', () => new Promise(() => undefined));
    metering.usage.record(callRecord());
    const closing = opened.close();
    await time.pass(5_000);
    assert.deepEqual(await closing, ['batches']);
    assert.equal(stored.length, 1);
    assert.equal(store.log.length, 1);
    metrics.close();
  });
});
