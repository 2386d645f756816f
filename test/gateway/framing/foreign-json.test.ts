import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  ForeignJsonScan,
  maxForeignValues,
  parseForeign,
  parseForeignInTurns,
  tooLargeJson,
} from '#gateway/framing/foreign-json.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { countValues } from '#shared/json/json.ts';
import { itInRounds } from '#test/support/run/long.ts';

const listOf = (values: number) => `[${'0,'.repeat(values - 2)}0]`;
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

/** Feeds a text in pieces of a size. */
function scanned(text: string, maxValues: number, pieceBytes: number): ForeignJsonScan {
  const scan = new ForeignJsonScan(maxValues);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) scan.feed(bytes.subarray(at, at + pieceBytes));
  return scan;
}

describe('parseForeign', () => {
  it('parses 200,000 values, and refuses one more', () => {
    assert.ok(Array.isArray(parseForeign(listOf(maxForeignValues))));
    assert.equal(parseForeign(listOf(maxForeignValues + 1)), tooLargeJson);
  });

  it('parses 256 levels, and refuses one more, also in a short text', () => {
    assert.ok(Array.isArray(parseForeign(nested(256))));
    assert.equal(parseForeign(nested(257)), tooLargeJson);
    assert.equal(parseForeign(Buffer.from(`{"x":${nested(200_000)}}`)), tooLargeJson);
  });

  it('counts no brackets and commas inside texts', () => {
    const text = JSON.stringify({ '[[,"\\': `\\"${'[,{"'.repeat(300)}\\` });
    assert.equal(scanned(text, 2, 1).isTooLarge, false);
    assert.deepEqual(parseForeign(text), JSON.parse(text));
  });

  it('says of a text that is not JSON that it is none', () => {
    for (const text of ['', '{', '[1,', ']'.repeat(600), '\ufeff', '\ufeff{}'])
      assert.equal(parseForeign(text), undefined, text);
  });

  itInRounds('counts the same values wherever a text is cut', { few: 300, many: 20_000 }, (numRuns) => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom(undefined, 1),
        fc.integer({ min: 1, max: 20 }),
        (value, gap, bytes) => {
          const text = JSON.stringify(value, null, gap);
          const values = countValues(JSON.parse(text));
          assert.equal(scanned(text, values, bytes).isTooLarge, false, text);
          assert.equal(scanned(text, values - 1, bytes).isTooLarge, true, text);
        },
      ),
      { numRuns },
    );
  });
});

describe('parseForeignInTurns', () => {
  const parsing = { held: currentWorkOwner(), scan: null, reserve: () => true };

  it('lets others run between the pieces of a large text', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      counter = setImmediate(count);
    };
    let counter = setImmediate(count);
    try {
      const text = JSON.stringify({ text: 'x'.repeat(8 * 1024 * 1024) });
      const value = await parseForeignInTurns(Buffer.from(text), parsing);
      assert.ok(typeof value === 'object' && turns >= 8, `${turns} turns`);
    } finally {
      clearImmediate(counter);
    }
  });

  it('refuses too many values before it makes any of them', async () => {
    assert.equal(await parseForeignInTurns(Buffer.from(listOf(maxForeignValues + 1)), parsing), tooLargeJson);
  });
});
