import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { parseRetryAfter } from '#shared/http/retry-after.ts';

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-01-05T09:30:00Z');
  const cases: ReadonlyArray<[Record<string, string | string[]>, number | null]> = [
    [{}, null],
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': ' 0.5 ' }, 500],
    [{ 'retry-after': '2', 'retry-after-ms': '150.2' }, 151],
    [{ 'retry-after': '2', 'retry-after-ms': 'soon' }, 2_000],
    [{ 'retry-after': 'Mon, 05 Jan 2026 09:30:03 GMT' }, 3_000],
    [{ 'retry-after': 'Mon, 05 Jan 2026 09:29:00 GMT' }, 0],
    [{ 'retry-after': 'later' }, null],
    [{ 'retry-after': 'in 5' }, null],
    [{ 'retry-after': '-5' }, null],
    [{ 'retry-after': '' }, null],
    [{ 'retry-after': ['2', '3'] }, null],
    [{ 'retry-after': '99999999' }, 86_400_000],
  ];
  for (const [headers, expected] of cases)
    it(`reads ${expected} ms from ${JSON.stringify(headers)}`, () =>
      assert.equal(parseRetryAfter(headers as IncomingHttpHeaders, now), expected));
});
