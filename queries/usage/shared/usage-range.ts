import { keptMs, type PeriodLength, periodMs, periodOf } from '#projections/usage/period.ts';

/** A range of whole periods of one length. */
export interface UsageRange {
  readonly length: PeriodLength;
  /** First moment of the first period, and of the one after the last. */
  readonly from: string;
  readonly until: string;
}

/** The first moment of the period in which a time lies or, if it is one, that moment itself. */
export const startOf = periodOf;

/** The end of the period in which a time lies, or that time itself where a period begins with it. */
export function endOf(length: PeriodLength, time: string): string {
  const start = periodOf(length, time);
  return Date.parse(start) === Date.parse(time) ? start : shifted(start, periodMs[length]);
}

/** A time so much later. @param ms negative for earlier */
export function shifted(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

/** The first moments of all periods of a range. */
export function periodsOf({ length, from, until }: UsageRange): ReadonlyArray<string> {
  const periods: string[] = [];
  for (let time = Date.parse(from); time < Date.parse(until); time += periodMs[length]) {
    periods.push(new Date(time).toISOString());
  }
  return periods;
}

/** The oldest time of which the documents of a length are there for certain; null where they are kept for ever. */
export function keptSince(length: PeriodLength, now: string): string | null {
  const kept = keptMs(length);
  return kept === null ? null : shifted(now, -kept);
}

/**
 * A range as whole days with hours at its ends, which is the fewest documents to read. What begins before hours are kept
 * begins with a whole day.
 * @param now time of the request
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

/** A range moved outwards to whole hours, or to days where hours are no longer kept. */
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
