import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonOutline } from '#gateway/framing/json-outline.ts';
import type { Json } from '#shared/json/json.ts';
import { itInRounds } from '#test/support/run/long.ts';

function outlineOf(bytes: Buffer, places: ReadonlyArray<number> = []): JsonOutline {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  const outline = new JsonOutline();
  for (const [index, end] of sorted.slice(1).entries()) outline.feed(bytes.subarray(sorted[index] ?? 0, end));
  return outline;
}

const maxTextBytes = 1024;

/** The value with its long texts cut. */
function cutTexts(value: Json): Json {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value)) - 2 > maxTextBytes ? '...' : value;
  if (Array.isArray(value)) return value.map(cutTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [cutTexts(name), cutTexts(inside as Json)]));
}

const long = fc.constantFrom('x'.repeat(1_024), 'x'.repeat(1_025), 'é"\\\n'.repeat(500), '\\'.repeat(2_000));
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.string({ unit: 'grapheme' }), long, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof({ weight: 9, arbitrary: fc.string({ maxLength: 5 }) }, { weight: 1, arbitrary: long }),
      tie('any'),
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    ),
  ),
})).any as fc.Arbitrary<Json>;

describe('JsonOutline', () => {
  itInRounds('is the JSON without its long texts, wherever its bytes are cut', { few: 300, many: 5_000 }, (numRuns) => {
    fc.assert(
      fc.property(value, fc.array(fc.nat(), { maxLength: 8 }), (json, places) => {
        const outline = outlineOf(Buffer.from(JSON.stringify(json)), places);
        assert.deepEqual(JSON.parse(outline.text), cutTexts(json));
      }),
      { numRuns },
    );
  });

  itInRounds('can be closed to JSON wherever it breaks off', { few: 300, many: 5_000 }, (numRuns) => {
    fc.assert(
      fc.property(value, fc.nat(), (inside, place) => {
        const whole = Buffer.from(JSON.stringify({ first: 'a', inside }));
        const text = outlineOf(whole.subarray(0, 1 + (place % whole.length))).closedText;
        assert.equal(typeof JSON.parse(text), 'object');
      }),
      { numRuns },
    );
  });

  it('says the kind of an event that has only begun', () => {
    const begun = `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${'x'.repeat(2_000)}`;
    assert.deepEqual(JSON.parse(outlineOf(Buffer.from(begun)).closedText), {
      id: 'x',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: '...' } }],
    });
  });

  it('never throws, and ends where there is too much', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[{}[\],:"\\x]*$/)), (pieces) => {
        const outline = new JsonOutline();
        for (const piece of pieces) outline.feed(Buffer.from(piece));
        assert.equal(typeof outline.closedText, 'string');
      }),
    );
    assert.equal(outlineOf(Buffer.from('['.repeat(300))).isTooLarge, true);
    assert.equal(outlineOf(Buffer.from(`[${'1234567,'.repeat(600_000)}`)).isTooLarge, true);
  });

  for (const [json, hasError] of [
    ['{"a":1,"error":{"message":"x"}}', true],
    ['{"a":1,"error" : "x"}', true],
    ['{"\\u0065rror":{}}', true],
    ['{"response":{"a":[],"error":{}}}', true],
    ['{"choices":[{"a":1},{"delta":{"b":1},"error":{}}]}', true],
    ['{"a":1,"error" : null,"b":{"error":{}}}', false],
    ['{"response":{"error":null},"item":{"error":"x"}}', false],
    ['{"choices":[{"error":null,"delta":{"error":{}}}],"a":"error"}', false],
    ['{"a":"error","b":["error","error"],"errors":1}', false],
  ] as const)
    it(`${hasError ? 'has' : 'has no'} error: ${json}`, () => {
      const bytes = Buffer.from(json);
      assert.equal(outlineOf(bytes).hasError, hasError);
      assert.equal(outlineOf(bytes, [...bytes.keys()]).hasError, hasError);
    });
});
