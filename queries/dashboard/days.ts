const dayMs = 24 * 60 * 60 * 1_000;

/** A range of days whose last day is today. */
export interface DayRange {
  /** The beginning of the first day. The range ends at the time of the request. */
  readonly from: string;
  readonly until: string;
  /** `2026-01-05`, in UTC, oldest first. */
  readonly days: ReadonlyArray<string>;
  /** The same number of days, before `days`. */
  readonly previousDays: ReadonlyArray<string>;
  /** The months of all these days, `2026-01`. */
  readonly months: ReadonlyArray<string>;
}

/** @param now RFC 3339 in UTC */
export function lastDays(count: number, now: string): DayRange {
  const today = Date.parse(now.slice(0, 10));
  const dayAt = (back: number) => new Date(today - back * dayMs).toISOString().slice(0, 10);
  const days = Array.from({ length: count }, (_, index) => dayAt(count - 1 - index));
  const previousDays = Array.from({ length: count }, (_, index) => dayAt(2 * count - 1 - index));
  const months = [...new Set([...previousDays, ...days].map((day) => day.slice(0, 7)))];
  return { from: `${days[0]}T00:00:00.000Z`, until: now, days, previousDays, months };
}

export function sumOf(numbers: ReadonlyArray<number>): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
