import * as t from 'io-ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { textThat } from '#shared/codecs/text.ts';

/** A time in RFC 3339 in UTC with milliseconds, as in all answers. */
export const timestamp = textThat(
  'timestamp',
  (value) => (Number.isNaN(Date.parse(value)) ? 'must be an RFC 3339 time' : null),
  { format: 'date-time', examples: ['2026-01-05T09:30:00.000Z'] },
);

const instantPattern =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** A time from a client, in RFC 3339 with any offset. It is decoded to UTC with milliseconds. */
export const instant = withJsonSchema(
  new t.Type<string, string, unknown>(
    'instant',
    t.string.is,
    (value, context) => {
      const time = typeof value === 'string' ? utcOf(value) : null;
      return time === null
        ? t.failure(value, context, 'must be an RFC 3339 time, like 2026-01-05T09:30:00Z')
        : t.success(time);
    },
    t.identity,
  ),
  { type: 'string', format: 'date-time', examples: ['2026-01-05T09:30:00Z'] },
);

function utcOf(value: string): string | null {
  const day = instantPattern.exec(value)?.[1];
  // Date would read a day that the month does not have as one of the next month.
  if (day === undefined || dayOf(`${day}T00:00:00Z`) !== day) return null;
  const time = new Date(value.toUpperCase()).toISOString();
  // RFC 3339 years have four digits, and times are compared as texts.
  return /^\d/.test(time) ? time : null;
}

function dayOf(value: string): string {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(0, 10);
}
