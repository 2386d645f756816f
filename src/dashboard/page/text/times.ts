const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly clock: string;
  readonly seconds: string;
}

/**
 * `14:23:02` today, `19 Nov 16:40` this year, otherwise with the year.
 * @param zone an IANA name; default the viewer's own
 */
export function formatTime(time: string | number, now: number, zone?: string): string {
  const at = partsOf(time, zone);
  const today = partsOf(now, zone);
  if (at === null || today === null) return String(time);
  const isToday = at.year === today.year && at.month === today.month && at.day === today.day;
  if (isToday) return `${at.clock}:${at.seconds}`;
  return at.year === today.year ? `${dateOf(at)} ${at.clock}` : `${dateOf(at)} ${at.year}`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** For older times than this, the date says more. */
const maxRelativeMs = 7 * dayMs;

/** `just now`, `2 min ago`, `5 h ago`, `3 days ago`; before that, and in the future, like `formatShortTime`. */
export function formatAgo(time: string | number, now: number, zone?: string): string {
  const agoMs = now - new Date(time).getTime();
  if (!(agoMs > -minuteMs) || agoMs >= maxRelativeMs) return formatShortTime(time, now, zone);
  if (agoMs < minuteMs) return 'just now';
  if (agoMs < hourMs) return `${Math.floor(agoMs / minuteMs)} min ago`;
  if (agoMs < dayMs) return `${Math.floor(agoMs / hourMs)} h ago`;
  const days = Math.floor(agoMs / dayMs);
  return days === 1 ? '1 day ago' : `${days} days ago`;
}

/** Formats as `formatTime` does, but without the clock on other days, for lists. */
export function formatShortTime(time: string | number, now: number, zone?: string): string {
  const at = partsOf(time, zone);
  const today = partsOf(now, zone);
  if (at === null || today === null) return String(time);
  const isToday = at.year === today.year && at.month === today.month && at.day === today.day;
  if (isToday) return `${at.clock}:${at.seconds}`;
  return at.year === today.year ? dateOf(at) : `${dateOf(at)} ${at.year}`;
}

/** Formats a time for a sentence: `2 Nov 2026, 12:00:00`. */
export function formatMoment(time: string | number, zone?: string): string {
  const at = partsOf(time, zone);
  return at === null ? String(time) : `${dateOf(at)} ${at.year}, ${at.clock}:${at.seconds}`;
}

/** `14:23`, or `20 Nov` if the axis spans days. */
export function formatAxisTime(time: number, spansDays: boolean, zone?: string): string {
  const at = partsOf(time, zone);
  if (at === null) return '';
  return spansDays ? dateOf(at) : at.clock;
}

/** Formats a time in RFC 3339, for a title. */
export function formatUtc(time: string | number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString();
}

function dateOf({ day, month }: Parts): string {
  return `${day} ${months[month - 1] ?? ''}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(time: string | number, zone = ''): Parts | null {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return null;
  const found: Record<string, string> = {};
  for (const { type, value } of formatIn(zone).formatToParts(date)) found[type] = value;
  const { year = '', month = '', day = '', hour = '', minute = '', second = '' } = found;
  return { year: Number(year), month: Number(month), day: Number(day), clock: `${hour}:${minute}`, seconds: second };
}

function formatIn(zone: string): Intl.DateTimeFormat {
  const made = formats.get(zone);
  if (made !== undefined) return made;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(zone === '' ? {} : { timeZone: zone }),
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(zone, format);
  return format;
}
