import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { parseKeepingText, writeJson } from '#gateway/framing/json-text.ts';
import { LongTexts } from '#gateway/framing/long-texts.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Texts of which some are longer than 64 KiB, in any form that JSON allows. */
const texts = fc
  .tuple(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    fc.constantFrom(0, 1, 70_000),
  )
  .map(([beginning, piece, length]) => beginning + piece.repeat(Math.ceil(length / piece.length)));
const written = fc.tuple(texts, fc.boolean()).map(([text, isEscaped]) => {
  const json = JSON.stringify(text);
  return isEscaped
    ? json
        .replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .replaceAll('/', '\\/')
    : json;
});

async function throughMarks(body: string): Promise<{ parsed: JsonObject; after: string }> {
  const longTexts = new LongTexts();
  const parsed = await parseKeepingText(Buffer.from(body), [['kept']], {
    maxValues: 1_000,
    jsonInTexts: [['arguments']],
    longTexts,
  });
  assert.ok(E.isRight(parsed));
  return { parsed: parsed.right, after: longTexts.putInto(Buffer.from(writeJson(parsed.right))).toString() };
}

describe('LongTexts', () => {
  it('gives back every text, whatever its form is and where it is', () =>
    fc.assert(
      fc.asyncProperty(fc.array(written, { maxLength: 4 }), written, async (list, other) => {
        const body = `{"list":[${list.join(',')}],"kept":{"a":${other}},"arguments":${other}, "last":${other}}`;
        const { after } = await throughMarks(body);
        assert.deepEqual(JSON.parse(after), JSON.parse(body.replaceAll('\\/', '/')));
      }),
      { numRuns: 40 },
    ));

  it('takes long texts out of what is parsed, but for their beginnings', async () => {
    const { parsed } = await throughMarks(`{"url":"data:image\\/png;base64,${'A'.repeat(100_000)}"}`);
    const { url } = parsed;
    assert.ok(typeof url === 'string' && url.startsWith('data:image/png;base64,AAAA') && url.length < 400);
  });

  it('leaves files whole that may be plain texts, up to 8 MiB together', async () => {
    const file = (bytes: number) => `data:text\\/markdown;base64,${'A'.repeat(bytes)}`;
    const { parsed, after } = await throughMarks(
      `{"a":"${file(100_000)}","b":"${file(8 * 1024 * 1024)}","c":"${file(70_000)}"}`,
    );
    const lengths = ['a', 'b', 'c'].map((name) => String(parsed[name]).length);
    assert.deepEqual(
      lengths.map((length) => length > 400),
      [true, false, true],
    );
    assert.equal(Object.values(JSON.parse(after)).join('').length, 3 * file(0).length - 3 + 170_000 + 8 * 1024 * 1024);
  });

  it('leaves Base64 in lines whole, whose line breaks are taken out', async () => {
    const lines = `${'A'.repeat(76)}\\n`.repeat(1_000);
    const members = {
      bare: lines,
      url: `data:image\\/png;base64,${lines}`,
      other: `${'A'.repeat(40)}\\n`.repeat(2_000),
    };
    const { parsed } = await throughMarks(
      `{${Object.entries(members)
        .map(([name, text]) => `"${name}":"${text}"`)
        .join()}}`,
    );
    const isWhole = Object.keys(members).map((name) => String(parsed[name]).length > 400);
    assert.deepEqual(isWhole, [true, true, false]);
  });

  it('leaves marks alone that a client made up', async () => {
    const body = `{"a":"<00:7> ${'x'.repeat(70_000)}","b":"<00:0>"}`;
    assert.equal((await throughMarks(body)).after, body);
  });
});
