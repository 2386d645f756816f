import assert from 'node:assert/strict';
import { ThrottledLog } from '#shared/logging/throttled-log.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('ThrottledLog', () => {
  let lines: [fields: Readonly<Record<string, unknown>>, message: string][];
  let log: ThrottledLog;
  const open = (intervalMs: number) => {
    lines = [];
    log = new ThrottledLog((fields, message) => void lines.push([fields, message]), intervalMs);
  };
  afterEach(() => log.close());

  it('writes the first line of each kind immediately', () => {
    open(60_000);
    log.write('a', { n: 1 }, 'first');
    log.write('b', { n: 2 }, 'second');
    assert.deepEqual(lines, [
      [{ n: 1 }, 'first'],
      [{ n: 2 }, 'second'],
    ]);
  });

  it('writes the last omitted line at the end of the interval, with the number of omitted lines', async () => {
    open(30);
    for (let n = 1; n <= 4; n += 1) log.write('a', { n }, 'again');
    assert.equal(lines.length, 1);
    await eventually(() => lines.length === 2, 'the line for those left out');
    assert.deepEqual(lines[1], [{ n: 4, repeated: 3 }, 'again']);
  });

  it('writes omitted lines when it closes, and nothing twice', () => {
    open(60_000);
    log.write('a', { n: 1 }, 'again');
    log.write('a', { n: 2 }, 'again');
    log.close();
    log.close();
    assert.deepEqual(
      lines.map(([fields]) => fields),
      [{ n: 1 }, { n: 2, repeated: 1 }],
    );
  });

  it('limits its memory: kinds beyond 200 share a line', () => {
    open(60_000);
    for (let kind = 0; kind < 1_000; kind += 1) log.write(`kind ${kind}`, { kind }, 'again');
    assert.equal(lines.length, 201);
  });
});
