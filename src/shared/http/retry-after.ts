import type { IncomingHttpHeaders } from 'node:http';

const longestRetryAfterMs = 24 * 60 * 60 * 1_000;

/**
 * The wait in ms, at most a day: from `retry-after-ms`, otherwise from `Retry-After` (seconds or a date); null without
 * both.
 * @param now in ms of the epoch
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
 */
export function parseRetryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const exact = headers['retry-after-ms'];
  if (typeof exact === 'string' && /^\d+(?:\.\d+)?$/.test(exact.trim())) return bounded(Number(exact));
  // Some clients give a repeated header as a list.
  const header = String(headers['retry-after'] ?? '').trim();
  if (header === '') return null;
  if (/^\d+(?:\.\d+)?$/.test(header)) return bounded(Number(header) * 1_000);
  // `Date.parse` accepts many texts that are not dates.
  const date = /\d:\d\d:\d\d/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : bounded(date - now);
}

function bounded(milliseconds: number): number {
  return Math.min(longestRetryAfterMs, Math.max(0, Math.ceil(milliseconds)));
}
