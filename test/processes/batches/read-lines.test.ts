import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { type LinesSource, readLines, TooManyLinesError } from '#processes/batches/read-lines.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const bytesOf = (text: string, sizes: ReadonlyArray<number>) => {
  const all = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < all.length; turn += 1) {
    const size = sizes[turn % Math.max(1, sizes.length)] ?? 7;
    pieces.push(all.subarray(at, at + size));
    at += size;
  }
  return pieces;
};

const budgetOf = (maxBytes = 1e9) => new ByteBudget({ maxBytesPerProject: maxBytes, maxBytes });

async function linesOf(open: (start: number) => Promise<Readable | null>, other: Partial<LinesSource> = {}) {
  const lines: [number, string | null][] = [];
  const budget = budgetOf();
  const hold = () => budget.hold('a');
  const waitForRoom = () => assert.fail('there is room');
  const source = { open, maxLineBytes: 100, maxLines: 100, hold, waitForRoom, ...other };
  for await (const line of readLines(source)) {
    lines.push([line.number, line.bytes?.toString() ?? null]);
    line.release();
  }
  assert.deepEqual([budget.bytes, budget.projects], [0, 0]);
  return lines;
}

describe('readLines', () => {
  it('returns every line with its number, wherever the pieces are cut, and skips blank lines', async () => {
    const text = fc.array(fc.constantFrom('a', 'bb', '', ' ', 'ü', 'x\r'), { maxLength: 20 });
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(text, sizes, fc.boolean(), async (texts, cuts, isEnded) => {
        const whole = texts.join('\n') + (isEnded ? '\n' : '');
        const expected = texts.flatMap((line, index) => (line.trim() === '' ? [] : [[index + 1, line] as const]));
        const found = await linesOf(async (start) =>
          Readable.from(
            bytesOf(whole, cuts).length > 0 ? bytesOf(Buffer.from(whole).subarray(start).toString(), cuts) : [],
          ),
        );
        assert.deepEqual(found, expected);
      }),
      { numRuns: 100 },
    );
  });

  it('reports a line that is too long, and reads the next one', async () => {
    const found = await linesOf(async () => Readable.from([Buffer.from(`a\n${'x'.repeat(300)}\nb`)]));
    assert.deepEqual(found, [
      [1, 'a'],
      [2, null],
      [3, 'b'],
    ]);
  });

  it('continues at the place where a read broke off', async () => {
    const whole = Buffer.from('one\ntwo\nthree\nfour');
    let opened = 0;
    const open = async (start: number) => {
      opened += 1;
      const isLast = opened === 3;
      return Readable.from(
        (async function* () {
          yield whole.subarray(start, isLast ? whole.length : start + 6);
          if (!isLast) throw new UnavailableError('broken');
        })(),
      );
    };
    assert.deepEqual(await linesOf(open), [
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
      [4, 'four'],
    ]);
  });

  it('gives up when nothing more can be read', async () => {
    const open = async () =>
      new Readable({
        read() {
          this.destroy(new UnavailableError('away'));
        },
      });
    await assert.rejects(linesOf(open), UnavailableError);
    await assert.rejects(
      linesOf(async () => null),
      UnavailableError,
    );
  });

  it('counts the bytes of a line until its release, and those of its answer instead when it has one', async () => {
    const budget = budgetOf();
    const open = async () =>
      Readable.from([Buffer.from('x'.repeat(40)), Buffer.from('x'.repeat(40)), Buffer.from('\nb')]);
    const hold = () => budget.hold('a');
    const lines = readLines({ open, maxLineBytes: 100, maxLines: 9, hold, waitForRoom: async () => false });
    const { value: line } = await lines.next();
    assert.equal(budget.bytes, 80 + 256);
    line.becomeAnswer(10);
    assert.deepEqual([budget.bytes, line.bytes], [10, null]);
    line.release();
    await lines.return(undefined);
    assert.deepEqual([budget.bytes, budget.projects], [0, 0]);
  });

  it('waits for room before it reads a line, and then reads the line from its beginning', async () => {
    const budget = budgetOf(1_000);
    const other = budget.hold('a');
    other.resize(950);
    const whole = Buffer.from(`one\n\n${'x'.repeat(60)}\nfour`);
    const waits: number[] = [];
    const found = await linesOf(async (start) => Readable.from(bytesOf(whole.subarray(start).toString(), [20])), {
      hold: () => budget.hold('a'),
      waitForRoom: async () => {
        waits.push(budget.bytes);
        other.release();
        return true;
      },
    });
    assert.deepEqual(found, [
      [1, 'one'],
      [3, 'x'.repeat(60)],
      [4, 'four'],
    ]);
    assert.deepEqual(waits, [950]);
  });

  it('reads no further when the reader does not wait for room', async () => {
    const budget = budgetOf(50);
    const open = async () => Readable.from([Buffer.from(`a\n${'b'.repeat(60)}\nc`)]);
    const hold = () => budget.hold('a');
    assert.deepEqual(await linesOf(open, { hold, waitForRoom: async () => false }), [[1, 'a']]);
    assert.deepEqual([budget.bytes, budget.projects], [0, 0]);
  });

  it('passes over many blank lines in little time, gives others turns, and counts the lines in a limit', async () => {
    const open = async () => Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(65_536, '\n')));
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    const before = process.cpuUsage();
    assert.deepEqual(await linesOf(open, { maxLines: 64 * 65_536 }), []);
    const { user, system } = process.cpuUsage(before);
    clearInterval(counting);
    assert.ok(turns > 3, `${turns} turns`);
    assert.ok((user + system) / 1_000 < 800, `${(user + system) / 1_000} ms for four million lines`);
    await assert.rejects(linesOf(open, { maxLines: 1_000_000 }), TooManyLinesError);
  });
});
