import assert from 'node:assert/strict';
import { LagMonitor } from '#projection-engine/progress/lag-monitor.ts';

describe('LagMonitor', () => {
  it('reports how long the log has been beyond a position, and keeps the longest time of each minute', async () => {
    let now = Date.parse('2026-01-05T09:30:00.000Z');
    let end = 10;
    const status = [
      { state: 'running' as const, position: 10 },
      { state: 'stopped' as const, position: 1 },
    ];
    const monitor = new LagMonitor({ lastPosition: async () => end, status: () => status, now: () => now });
    assert.equal(monitor.lagMs(10), null);
    await monitor.look();
    assert.equal(monitor.lagMs(10), 0);
    end = 25;
    now += 1_000;
    await monitor.look();
    now += 3_000;
    assert.equal(monitor.lagMs(10), 3_000);
    await monitor.look();
    assert.deepEqual(monitor.past(), {
      times: ['2026-01-05T09:30:00.000Z'],
      worstLag: [15],
      worstLagMs: [3_000],
      growth: [15],
    });
  });

  it('keeps the times of at most a day, and ignores an event store that is away', async () => {
    let now = Date.parse('2026-01-05T09:30:00.000Z');
    let away = false;
    const lastPosition = async () => {
      if (away) throw new Error('away');
      return 1;
    };
    const monitor = new LagMonitor({ lastPosition, status: () => [], now: () => now });
    for (let minute = 0; minute < 1_500; minute += 1) {
      now += 60_000;
      await monitor.look();
    }
    away = true;
    await monitor.look();
    assert.equal(monitor.past().times.length, 1_440);
  });
});
