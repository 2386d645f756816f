import assert from 'node:assert/strict';
import { type HourlyUsageEntry, hourOf, type UsageEvents, usageEvents } from '#domain/usage/events.ts';
import type { StoredEvent } from '#event-store/event-store.ts';

/** Sums of one key, model and target in an hour, as a read model keeps them. */
export interface UsageRow {
  readonly calls: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly cost: number;
  readonly bins: Readonly<Record<string, number>>;
}

type Rows = Readonly<Record<string, UsageRow>>;

/** Computes the rows of a read model of usage by the rules of `UsageDayClosed`. */
export function usageRows(log: Iterable<Pick<StoredEvent, 'type' | 'data'>>): Rows {
  const rows: Record<string, UsageRow> = {};
  for (const { type, data } of log) {
    if (type === 'UsageRecorded') {
      const { until, usage } = JSON.parse(data) as UsageEvents['UsageRecorded'];
      for (const entry of usage) add(rows, { hour: hourOf(until), ...entry });
    }
    if (type === 'UsageDayClosed') {
      const closed: unknown = JSON.parse(data);
      assert.ok(usageEvents.UsageDayClosed.is(closed));
      for (const entry of closed.usage) delete rows[keyOf(entry)];
      for (const entry of closed.usage) add(rows, entry);
    }
  }
  return rows;
}

function add(rows: Record<string, UsageRow>, entry: HourlyUsageEntry): void {
  const before = rows[keyOf(entry)] ?? { calls: 0, errors: 0, inputTokens: 0, cost: 0, bins: {} };
  const bins = { ...before.bins };
  for (const [index, calls] of entry.totalMs.bins) bins[index] = (bins[index] ?? 0) + calls;
  rows[keyOf(entry)] = {
    calls: before.calls + entry.calls,
    errors: before.errors + (entry.outcome === 'served' ? 0 : entry.calls),
    inputTokens: before.inputTokens + entry.inputTokens,
    cost: before.cost + (entry.cost ?? 0),
    bins,
  };
}

function keyOf({ hour, keyId, model, target }: HourlyUsageEntry): string {
  return [hour, keyId, model, target].join(' ');
}
