import { chunkOf, minKeptMs, type PeriodLength, periodMs, periodOf } from '#projections/usage/period.ts';

/** Whole periods of one length. */
export interface UsageRange {
  readonly length: PeriodLength;
  /** The beginning of the first period; `until` is the end of the last one. */
  readonly from: string;
  readonly until: string;
}

export const startOf = periodOf;

/** The end of the period; the time itself if a period begins with it. */
export function endOf(length: PeriodLength, time: string): string {
  const start = periodOf(length, time);
  return Date.parse(start) === Date.parse(time) ? start : shifted(start, periodMs[length]);
}

/** @param ms negative for earlier */
export function shifted(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

export function periodsOf({ length, from, until }: UsageRange): ReadonlyArray<string> {
  const periods: string[] = [];
  for (let time = Date.parse(from); time < Date.parse(until); time += periodMs[length]) {
    periods.push(new Date(time).toISOString());
  }
  return periods;
}

/** The parts that one list reads: a day of hours, or a month of days. */
export function chunksOf(range: UsageRange): ReadonlyArray<UsageRange> {
  const { length, until } = range;
  const starts = periodsOf(range).filter(
    (period, index, periods) => index === 0 || chunkOf(length, period) !== chunkOf(length, periods[index - 1] ?? ''),
  );
  return starts.map((from, index) => ({ length, from, until: starts[index + 1] ?? until }));
}

/** The time since which periods are kept; null if they are kept permanently. */
export function keptSince(length: PeriodLength, now: string): string | null {
  const kept = minKeptMs(length);
  return kept === null ? null : shifted(now, -kept);
}

/**
 * Splits the range into whole days and hours, which needs the fewest documents. A range that begins before hours are
 * kept begins with a whole day.
 * @param now the time of the request
 */
export function wholeDaysAndHours(from: string, until: string, now: string): ReadonlyArray<UsageRange> {
  const [start, end] = hoursOrDays(from, until, now);
  const [firstDay, lastDay] = [endOf('day', start), startOf('day', end)];
  if (firstDay >= lastDay) return ranges([['hour', start, end]]);
  return ranges([
    ['hour', start, firstDay],
    ['day', firstDay, lastDay],
    ['hour', lastDay, end],
  ]);
}

/** Hours, or days if hours are no longer kept. */
export function hoursOrDays(from: string, until: string, now: string): readonly [string, string] {
  const kept = keptSince('hour', now) ?? '';
  return [
    from < kept ? startOf('day', from) : startOf('hour', from),
    until < kept ? endOf('day', until) : endOf('hour', until),
  ];
}

function ranges(parts: ReadonlyArray<readonly [PeriodLength, string, string]>): ReadonlyArray<UsageRange> {
  return parts.filter(([, from, until]) => from < until).map(([length, from, until]) => ({ length, from, until }));
}
