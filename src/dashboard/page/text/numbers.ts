const locale = 'en-GB';
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const oneDecimal = new Intl.NumberFormat(locale, { minimumFractionDigits: 0, maximumFractionDigits: 1 });
const twoDecimals = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });

/** What a table shows for a figure that does not apply. */
export const noFigure = '–';

/** A number with its unit, which are separate because the unit is smaller. */
export interface Figure {
  readonly value: string;
  readonly unit: string;
}

/** The number in full, for tables: `1,142,806`. */
export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? noFigure : whole.format(count);
}

/** The number with three or four digits, for figures: `1,284`, `12.4`, `1.143M`. */
export function formatFigure(count: number | null | undefined): string {
  if (count === null || count === undefined) return noFigure;
  if (Math.abs(count) >= 10_000) return compact.format(count);
  return Math.abs(count) >= 100 || Number.isInteger(count) ? whole.format(count) : oneDecimal.format(count);
}

/** A duration for a table with ms in the head. From ten seconds on it has its own unit. */
export function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return noFigure;
  return ms <= 9_999 ? whole.format(ms) : `${oneDecimal.format(ms / 1_000)} s`;
}

/** A duration in milliseconds, and from two seconds on in seconds with one decimal. */
export function durationFigure(ms: number | null | undefined): Figure {
  if (ms === null || ms === undefined) return { value: noFigure, unit: '' };
  if (ms > 0 && ms < 1) return { value: '< 1', unit: 'ms' };
  if (ms < 2_000) return { value: whole.format(ms), unit: 'ms' };
  if (ms < 120_000) return { value: (ms / 1_000).toFixed(1), unit: 's' };
  return { value: formatLongDuration(ms), unit: '' };
}

/** `850 ms`, `5.4 s`, `8 min 12 s`: a duration in a sentence. */
export function formatDuration(ms: number | null | undefined): string {
  const { value, unit } = durationFigure(ms);
  return unit === '' ? value : `${value} ${unit}`;
}

function formatLongDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`;
}

/** An amount with two decimals. A small amount is never shown as zero. */
export function formatMoney(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return noFigure;
  if (amount !== 0 && Math.abs(amount) < 0.005) return amount > 0 ? '< 0.01' : '> −0.01';
  return twoDecimals.format(amount);
}

/** The percentage with one decimal; null if the whole is zero. */
export function percentOf(part: number, all: number): number | null {
  return all === 0 ? null : Math.round((part / all) * 1_000) / 10;
}

/** `1 instance`, `2 instances`, `no instances`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  if (count === 0) return `no ${plural}`;
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** A round number at or above the maximum, for the top of a chart; 1 for a chart without figures. */
export function roundTop(maximum: number): number {
  if (!(maximum > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(maximum));
  const step = [1, 1.2, 1.6, 2, 2.5, 3, 4, 5, 6, 8, 10].find((each) => each * power >= maximum) ?? 10;
  return Number((step * power).toPrecision(3));
}
