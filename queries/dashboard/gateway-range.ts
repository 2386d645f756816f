import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { periodMs } from '#projections/usage/period.ts';
import { endOf, keptSince, shifted, startOf, type UsageRange } from '#queries/usage/usage-range.ts';
import type { UsageInterval } from './gateway-answer.ts';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const defaultMs = dayMs;

/** The limits of each interval, with the interval of its breakdown. They limit the documents of one answer. */
const intervals: Readonly<Record<UsageInterval, { readonly maxMs: number; readonly breakdown: UsageInterval }>> = {
  minute: { maxMs: 6 * hourMs, breakdown: 'quarter-hour' },
  'quarter-hour': { maxMs: dayMs, breakdown: 'hour' },
  hour: { maxMs: 14 * dayMs, breakdown: 'day' },
  day: { maxMs: 400 * dayMs, breakdown: 'day' },
};

/** The default `interval`: the finest one that the page can still draw for a range up to a length. */
const preferred: ReadonlyArray<readonly [UsageInterval, number]> = [
  ['minute', 3 * hourMs],
  ['quarter-hour', dayMs],
  ['hour', 14 * dayMs],
];

export interface GatewayRange {
  readonly series: UsageRange;
  readonly breakdown: UsageRange;
  /** The range of the same length before; null if it is no longer kept. */
  readonly previous: UsageRange | null;
}

/** A client's clock or the time of the request may make a range a little longer than a whole day. */
const tolerance = 1.05;

interface RequestedRange {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly interval?: UsageInterval | undefined;
}

/** Extends the requested range to whole intervals. @returns invalid-input for a range that is too long or not kept */
export function gatewayRange(requested: RequestedRange, now: string): E.Either<Failure, GatewayRange> {
  const until = requested.until ?? now;
  const from = requested.from ?? shifted(until, -defaultMs);
  const ms = Date.parse(until) - Date.parse(from);
  if (ms <= 0) return refused('/until', `must be later than from, which is ${from}`);
  const interval = requested.interval ?? preferredInterval(from, ms, now);
  const { maxMs, breakdown } = intervals[interval];
  if (ms > tolerance * maxMs)
    return refused('/from', `must be at most ${maxMs / hourMs} hours before until with the interval ${interval}`);
  if (!isKept(interval, from, now))
    return refused('/from', `is too long ago for the interval ${interval}; use a longer interval`);
  return E.right(alignedRange(from, until, interval, breakdown, now));
}

function refused(pointer: string, message: string): E.Either<Failure, never> {
  return E.left(invalidInput([{ pointer, message }]));
}

function preferredInterval(from: string, ms: number, now: string): UsageInterval {
  return preferred.find(([interval, maxMs]) => ms <= tolerance * maxMs && isKept(interval, from, now))?.[0] ?? 'day';
}

function isKept(interval: UsageInterval, from: string, now: string): boolean {
  return from >= (keptSince(interval, now) ?? '');
}

function alignedRange(
  from: string,
  until: string,
  interval: UsageInterval,
  breakdown: UsageInterval,
  now: string,
): GatewayRange {
  const start = startOf(breakdown, from);
  const end = endOf(interval, until);
  const before = shifted(start, Date.parse(start) - Date.parse(end));
  const previous = { length: interval, from: before, until: start };
  return {
    series: { length: interval, from: start, until: end },
    breakdown: { length: breakdown, from: start, until: endOf(breakdown, end) },
    previous: isKept(interval, shifted(before, periodMs[interval]), now) ? previous : null,
  };
}
