import type { UsageEntry, UsageEvents } from '#domain/usage/events.ts';
import { LatencySketch, relativeAccuracy } from '#domain/usage/latency-bins.ts';
import { noTokenParts } from '#domain/usage/usage-total.ts';
import { ids, tenants } from './tenants.ts';

/** An entry of a window of calls. @param latencies of the whole answers in ms, one for each call */
export function usageEntry(
  latencies: ReadonlyArray<number>,
  { firstContent = [], ...more }: Partial<UsageEntry> & { readonly firstContent?: ReadonlyArray<number> } = {},
): UsageEntry {
  const total = new LatencySketch();
  for (const latency of latencies) total.add(latency);
  const first = new LatencySketch();
  for (const latency of firstContent) first.add(latency);
  const totalMs = total.distribution();
  if (totalMs === null) throw new Error('an entry has a call');
  return {
    keyId: ids.key,
    ...tenants.project,
    operation: 'chat',
    model: 'gpt-large',
    target: 'openai/gpt-4.1',
    outcome: 'served',
    calls: latencies.length,
    streamed: 0,
    attempts: latencies.length,
    failedTries: [],
    callsWithTokens: latencies.length,
    inputTokens: 100 * latencies.length,
    outputTokens: 10 * latencies.length,
    ...noTokenParts,
    characters: 0,
    audioSeconds: 0,
    cost: 0.25 * latencies.length,
    headersMs: null,
    firstContentMs: first.distribution(),
    totalMs,
    ...more,
  };
}

/** Returns the event in which a node records some calls. */
export function usageRecorded(
  until: string,
  usage: ReadonlyArray<UsageEntry>,
  node = 'node-1',
): { readonly type: 'UsageRecorded'; readonly data: UsageEvents['UsageRecorded'] } {
  const from = new Date(Date.parse(until) - 5_000).toISOString();
  return { type: 'UsageRecorded', data: { node, from, until, relativeAccuracy, callsLost: 0, usage } };
}

/** Returns the event that closes a day, with the day's sums by hour. */
export function usageDayClosed(
  day: string,
  usage: UsageEvents['UsageDayClosed']['usage'],
  part: { readonly part: number; readonly parts: number } = { part: 1, parts: 1 },
): { readonly type: 'UsageDayClosed'; readonly data: UsageEvents['UsageDayClosed'] } {
  return { type: 'UsageDayClosed', data: { day, ...part, relativeAccuracy, callsLost: 0, usage, streams: [] } };
}
