import assert from 'node:assert/strict';
import { type Activity, eventsCurve } from '#dashboard/page/views/overview/overview-answers.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const activity: Activity = {
  from: '2026-10-25T00:00:00.000Z',
  days: [],
  events: Array.from({ length: 30 }, (_, day) => day),
  total: 0,
  kinds: [],
  hours: { from: '2026-11-21T03:00:00.000Z', events: Array.from({ length: 48 }, (_, hour) => hour) },
  counts: {},
};
const of = (rangeMs: number) => {
  const { unit, values, times } = eventsCurve(activity, rangeMs);
  const at = (index: number) => new Date(times.at(index) ?? Number.NaN).toISOString();
  return [unit, values.length, times.length, values.at(0), values.at(-1), at(0), at(-1)];
};

describe('events of the overview', () => {
  it('counts events by the hour over a day, with the running hour', () => {
    const expected = ['hour', 24, 24, 24, 47, '2026-11-22T03:00:00.000Z', '2026-11-23T02:00:00.000Z'];
    assert.deepEqual(of(dayMs), expected);
    assert.deepEqual(of(hourMs), expected);
  });

  it('counts events by the day over several days, with today', () => {
    assert.deepEqual(of(7 * dayMs), ['day', 7, 7, 23, 29, '2026-11-17T00:00:00.000Z', '2026-11-23T00:00:00.000Z']);
    assert.deepEqual(of(30 * dayMs), ['day', 30, 30, 0, 29, '2026-10-25T00:00:00.000Z', '2026-11-23T00:00:00.000Z']);
  });
});
