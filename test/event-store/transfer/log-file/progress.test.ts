import assert from 'node:assert/strict';
import { Progress } from '#event-store/transfer/log-file/progress.ts';

/** Returns the written text for reports at these times. */
function shown(isTTY: boolean, reports: ReadonlyArray<readonly [ms: number, events: number, fraction: number | null]>) {
  let now = 1_000;
  const written: string[] = [];
  const output = { isTTY, write: (text: string) => written.push(text) };
  const progress = new Progress('exported', output, { now: () => now });
  for (const [ms, events, fraction] of reports) {
    now = 1_000 + ms;
    progress.report(events, fraction);
  }
  progress.end();
  return written;
}

describe('Progress', () => {
  it('writes a line every five seconds with the time left', () => {
    const reports = [
      [1_000, 900, 0.1],
      [5_000, 25_000, 0.25],
      [9_999, 30_000, 0.3],
      [10_000, 50_000, 0.5],
    ] as const;
    assert.deepEqual(shown(false, reports), [
      'exported 25,000 events, 25% (5,000 events/s, 15 s left)\n',
      'exported 50,000 events, 50% (5,000 events/s, 10 s left)\n',
    ]);
  });

  it('rewrites one line on a terminal', () => {
    const reports = [
      [100, 900, 0.1],
      [200, 1_000, null],
    ] as const;
    assert.deepEqual(shown(true, reports), ['\r\x1b[2Kexported 1,000 events (5,000 events/s)', '\r\x1b[2K']);
  });

  it('writes nothing for an operation that ends immediately', () => {
    assert.deepEqual(shown(true, [[10, 5, 1]]), []);
  });
});
