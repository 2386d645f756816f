import assert from 'node:assert/strict';
import { formatAgo, formatMoment, formatShortTime, formatTime, formatUtc } from '#dashboard/page/text/times.ts';

const now = Date.parse('2026-11-20T14:30:00Z');

describe('times of the dashboard', () => {
  it('shows the time of day for today, the day for this year, and the year for earlier times', () => {
    const times = ['2026-11-20T14:23:02.120Z', '2026-11-19T16:40:12Z', '2025-12-31T23:59:59Z'];
    assert.deepEqual(
      times.map((time) => formatTime(time, now, 'UTC')),
      ['14:23:02', '19 Nov 16:40', '31 Dec 2025'],
    );
    assert.equal(formatShortTime('2026-11-19T16:40:12Z', now, 'UTC'), '19 Nov');
  });

  it('shows how long ago a time was, and older and future times by their date', () => {
    const agos = [10_000, 90_000, 59 * 60_000, 3 * 3_600_000, 86_400_000, 6 * 86_400_000].map((ms) =>
      formatAgo(now - ms, now, 'UTC'),
    );
    assert.deepEqual(agos, ['just now', '1 min ago', '59 min ago', '3 h ago', '1 day ago', '6 days ago']);
    assert.equal(formatAgo('2026-11-02T12:00:00Z', now, 'UTC'), '2 Nov');
    assert.equal(formatAgo('2026-12-02T12:00:00Z', now, 'UTC'), '2 Dec');
    assert.equal(formatAgo(now + 5_000, now, 'UTC'), 'just now');
    assert.equal(formatAgo('soon', now, 'UTC'), 'soon');
  });

  it('shows times in the viewer’s time zone, where the date may differ', () => {
    assert.equal(formatTime('2026-11-19T23:30:00Z', now, 'Europe/Berlin'), '00:30:00');
    assert.equal(formatTime('2026-11-19T23:30:00Z', now, 'UTC'), '19 Nov 23:30');
  });

  it('shows a moment in full, and RFC 3339 in UTC', () => {
    assert.equal(formatMoment('2026-11-02T12:00:00Z', 'UTC'), '2 Nov 2026, 12:00:00');
    assert.equal(formatUtc('2026-11-02T13:00:00+01:00'), '2026-11-02T12:00:00.000Z');
  });

  it('shows a text that is not a time unchanged', () => {
    assert.equal(formatTime('soon', now, 'UTC'), 'soon');
  });
});
