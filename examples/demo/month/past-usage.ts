import { randomUUID } from 'node:crypto';
import type { StoredEvent } from '#event-store/event-store.ts';
import type { CallingKey } from '#examples/demo/partner.ts';
import { UsageWindow, usageEvent, usageStreamOf } from '#usage/usage-recorder.ts';
import { inventCall } from './invented-call.ts';

/** The name of the node that would have recorded the usage. */
const node = 'demo';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The share of the busiest hour's calls in each hour of a day (UTC). */
const callsByHour = [7, 6, 6, 6, 6, 9, 16, 35, 68, 90, 100, 92, 74, 80, 95, 88, 76, 60, 38, 26, 18, 14, 10, 8];
const callsAtPeakByMinute = 14;
const weekendShare = 0.35;
const keysAtOnce = 2;
const maxEntries = 1_000;

/** Makes the usage of the last thirty days, up to a time: the events that a node of the gateway would have recorded. */
export function usageOfMonth(keys: ReadonlyArray<CallingKey>, until: number): ReadonlyArray<StoredEvent> {
  const revisions = new Map<string, number>();
  const events: StoredEvent[] = [];
  const first = Math.min(...keys.map(({ createdAt }) => createdAt));
  let from = Math.floor(first / dayMs) * dayMs;
  for (let end = endOfWindow(from, until); end <= until; end = endOfWindow(from, until)) {
    const window = new UsageWindow(maxEntries);
    const calling = drawSome(keys.filter(({ createdAt }) => createdAt <= from));
    for (const at of callTimes(from, end)) {
      const key = calling[Math.floor(Math.random() * calling.length)];
      if (key !== undefined) window.add(inventCall(key, at, until));
    }
    if (window.calls > 0) events.push(eventOf(window, from, end, revisions));
    from = end;
  }
  return events;
}

/** The keys that call in a window: few, since each makes rows of its own. */
function drawSome(keys: ReadonlyArray<CallingKey>): ReadonlyArray<CallingKey> {
  const first = Math.floor(Math.random() * keys.length);
  return keys.concat(keys).slice(first, first + keysAtOnce);
}

/** Charts of short times have short intervals, so newer windows are shorter. */
function endOfWindow(from: number, until: number): number {
  const ageMs = until - from;
  if (ageMs <= 2 * hourMs) return from + minuteMs;
  if (ageMs <= 2 * dayMs) return from + 15 * minuteMs;
  return from + (ageMs <= 8 * dayMs ? hourMs : 4 * hourMs);
}

/** Their number depends on the hour, the weekday and chance. */
function* callTimes(from: number, until: number): Iterable<number> {
  const time = new Date(from);
  const isWeekend = [0, 6].includes(time.getUTCDay());
  const share = ((callsByHour[time.getUTCHours()] ?? 0) / 100) * (isWeekend ? weekendShare : 1);
  const expected = ((until - from) / minuteMs) * callsAtPeakByMinute * share * (0.75 + Math.random() / 2);
  const calls = Math.floor(expected + Math.random());
  for (let call = 0; call < calls; call += 1) yield from + Math.random() * (until - from);
}

function eventOf(window: UsageWindow, from: number, end: number, revisions: Map<string, number>): StoredEvent {
  const part = {
    id: randomUUID(),
    from: new Date(from).toISOString(),
    until: new Date(end).toISOString(),
    callsLost: window.callsLost,
    usage: window.entries(),
  };
  const stream = usageStreamOf(node, part);
  const revision = (revisions.get(stream) ?? -1) + 1;
  revisions.set(stream, revision);
  return { stream, revision, ...usageEvent(node, part) };
}
