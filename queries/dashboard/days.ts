const dayMs = 24 * 60 * 60 * 1_000;

/** Today is the last day. */
export interface DayRange {
  /** The beginning of the first day, and the time of the request. */
  readonly from: string;
  readonly until: string;
  /** `2026-01-05`, in UTC, oldest first. */
  readonly days: ReadonlyArray<string>;
  /** The same number, before `days`. */
  readonly previousDays: ReadonlyArray<string>;
  /** Of all these days, `2026-01`. */
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
