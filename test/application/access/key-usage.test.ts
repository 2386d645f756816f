import assert from 'node:assert/strict';
import { KeyUsage } from '#application/access/key-usage.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('KeyUsage', () => {
  let records: InMemoryRecordStore;
  let saves: number;
  let broken: boolean;
  let warnings: number;
  const open = (flushDelayMs = 60_000) =>
    new KeyUsage({
      records: {
        all: (...given) => records.all(...given),
        put: async (...given) => {
          if (broken) throw new Error('The thread is down.');
          saves += 1;
          await records.put(...given);
        },
      },
      log: { info: assert.fail, warn: () => (warnings += 1) },
      flushDelayMs,
    });

  const stored = () => records.all('key-usage');
  const store = (keyId: string, time: string) => records.put('key-usage', new Map([[keyId, time]]));

  beforeEach(() => {
    records = new InMemoryRecordStore();
    saves = 0;
    warnings = 0;
    broken = false;
  });

  it('reports a use immediately, to the minute', async () => {
    const usage = open();
    usage.touch('k1', Date.parse('2026-01-01T10:05:59.999Z'));
    assert.deepEqual([...(await usage.lastUsed(['k1', 'k2']))], [['k1', '2026-01-01T10:05:00.000Z']]);
    await usage.close();
  });

  it('stores all known uses when it is closed', async () => {
    const usage = open();
    usage.touch('k1', Date.parse('2026-01-01T10:05:59.999Z'));
    assert.equal((await stored()).size, 0);
    await usage.close();
    assert.equal((await stored()).get('k1'), '2026-01-01T10:05:00.000Z');
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
    await store('k1', '2026-01-01T10:07:00.000Z');
    await store('k2', '2026-01-01T10:01:00.000Z');
    const usage = open();
    usage.touch('k1', Date.parse('2026-01-01T10:05:00.000Z'));
    usage.touch('k2', Date.parse('2026-01-01T10:05:00.000Z'));
    const times = await usage.lastUsed(['k1', 'k2']);
    assert.deepEqual([times.get('k1'), times.get('k2')], ['2026-01-01T10:07:00.000Z', '2026-01-01T10:05:00.000Z']);
    await usage.close();
  });

  it('leaves a later time that another node has stored', async () => {
    const usage = open();
    usage.touch('k1', Date.parse('2026-01-01T10:05:00.000Z'));
    await store('k1', '2026-01-01T10:07:00.000Z');
    await usage.close();
    assert.deepEqual(await stored(), new Map([['k1', '2026-01-01T10:07:00.000Z']]));
  });

  it('retries later when storing fails', async () => {
    broken = true;
    const usage = open(5);
    usage.touch('k1', Date.parse('2026-01-01T10:05:00.000Z'));
    await eventually(() => warnings > 0, 'storing has failed');
    broken = false;
    await eventually(async () => (await stored()).has('k1'), 'it is stored');
    await usage.close();
  });

  it('keeps at most ten thousand keys in memory', async () => {
    const usage = open();
    for (let index = 0; index < 10_005; index += 1) usage.touch(`k${index}`, Date.parse('2026-01-01T10:05:00.000Z'));
    await usage.close();
    assert.equal((await stored()).size, 10_000);
  });
});
