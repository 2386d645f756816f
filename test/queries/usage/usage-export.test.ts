import assert from 'node:assert/strict';
import { noUsage } from '#domain/usage/usage-total.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import { UsageRows, usageCsv } from '#queries/usage/usage-export.ts';

describe('UsageRows', () => {
  const many = 6_000;
  let rows: UsageRows;

  beforeEach(() => {
    rows = new UsageRows(['day', 'model']);
    for (let index = 0; index < many; index += 1) {
      const day = index % 2 === 0 ? '2026-01-06' : '2026-01-05';
      const sums = { ...noUsage, calls: Math.floor(index / 4) % 1_000 };
      rows.add({ period: `${day}T00:00:00.000Z`, model: `m${index}`, sums } as unknown as UsageDocument);
    }
  });

  it('returns many rows in the order of time, then by calls, then by name', async () => {
    const found = await rows.rows();
    const sorted = found.toSorted((one, other) => {
      const byTime = (one.day ?? '') < (other.day ?? '') ? -1 : (one.day ?? '') > (other.day ?? '') ? 1 : 0;
      return byTime || other.calls - one.calls || ((one.model ?? '') < (other.model ?? '') ? -1 : 1);
    });
    assert.equal(found.length, many);
    assert.deepEqual(found, sorted);
  });

  it('gives others a turn for each few hundred rows of a table', async () => {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    let lines = 0;
    for await (const text of usageCsv(['day', 'model'], [rows]).chunks) lines += text.split('\r\n').length - 1;
    isOver = true;
    assert.equal(lines, many + 1);
    assert.ok(turns >= many / 200, `${turns} turns`);
    await new Promise(setImmediate);
  });
});
