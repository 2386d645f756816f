import assert from 'node:assert/strict';
import { openKeyUsage } from '#application/access/key-usage.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('openKeyUsage', () => {
  const stored = new Map<string, string>();
  let saves: number;
  let broken: boolean;
  let warnings: number;
  const open = (flushDelayMs = 60_000) =>
    openKeyUsage({
      readStore: { keysLastUsed: async (ids) => new Map([...stored].filter(([id]) => ids.includes(id))) },
      save: async (times) => {
        if (broken) throw new Error('The thread is down.');
        saves += 1;
        for (const [id, time] of times) stored.set(id, time);
      },
      log: { warn: () => (warnings += 1) },
      flushDelayMs,
    });

  beforeEach(() => {
    stored.clear();
    saves = 0;
    warnings = 0;
    broken = false;
  });

  it('reports a use at once, to the minute', async () => {
    const usage = open();
    usage.touch('k1', Date.parse('2026-01-01T10:05:59.999Z'));
    assert.deepEqual([...(await usage.lastUsed(['k1', 'k2']))], [['k1', '2026-01-01T10:05:00.000Z']]);
    await usage.close();
  });

  it('stores all known uses when it is closed', async () => {
    const usage = open();
    usage.touch('k1', Date.parse('2026-01-01T10:05:59.999Z'));
    assert.equal(stored.size, 0);
    await usage.close();
    assert.equal(stored.get('k1'), '2026-01-01T10:05:00.000Z');
  });

  it('stores uses after an interval, and the same minute only once', async () => {
    const usage = open(5);
    usage.touch('k1', Date.parse('2026-01-01T10:05:10.000Z'));
    await eventually(() => saves === 1, 'it is stored');
    usage.touch('k1', Date.parse('2026-01-01T10:05:20.000Z'));
    usage.touch('k1', Date.parse('2026-01-01T10:04:20.000Z'));
    await usage.close();
    assert.equal(saves, 1);
  });

  it('gives the later of the stored and the remembered time', async () => {
    stored.set('k1', '2026-01-01T10:07:00.000Z');
    stored.set('k2', '2026-01-01T10:01:00.000Z');
    const usage = open();
    usage.touch('k1', Date.parse('2026-01-01T10:05:00.000Z'));
    usage.touch('k2', Date.parse('2026-01-01T10:05:00.000Z'));
    const times = await usage.lastUsed(['k1', 'k2']);
    assert.deepEqual([times.get('k1'), times.get('k2')], ['2026-01-01T10:07:00.000Z', '2026-01-01T10:05:00.000Z']);
    await usage.close();
  });

  it('retries later when storing fails', async () => {
    broken = true;
    const usage = open(5);
    usage.touch('k1', Date.parse('2026-01-01T10:05:00.000Z'));
    await eventually(() => warnings > 0, 'storing has failed');
    broken = false;
    await eventually(() => stored.has('k1'), 'it is stored');
    await usage.close();
  });

  it('keeps at most ten thousand keys in memory', async () => {
    const usage = open();
    for (let index = 0; index < 10_005; index += 1) usage.touch(`k${index}`, Date.parse('2026-01-01T10:05:00.000Z'));
    await usage.close();
    assert.equal(stored.size, 10_000);
  });
});
