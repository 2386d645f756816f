import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { readLines } from '#processes/batches/read-lines.ts';
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

async function linesOf(open: (start: number) => Promise<Readable | null>, maxLineBytes = 100) {
  const lines: [number, string | null][] = [];
  for await (const { number, bytes } of readLines({ open, maxLineBytes })) {
    lines.push([number, bytes?.toString() ?? null]);
  }
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
});
