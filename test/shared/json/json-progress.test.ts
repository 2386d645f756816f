import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonProgress } from '#shared/json/json-progress.ts';
import { itInRounds } from '#test/support/run/long.ts';

const read = (...pieces: ReadonlyArray<string>) => {
  const progress = new JsonProgress();
  for (const piece of pieces) progress.add(piece);
  return progress;
};

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const values = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'))
  .map(([text, space]) => JSON.stringify(JSON.parse(text), null, space));

/** JSON and what is almost JSON: with something put in, or left out. */
const texts = fc
  .tuple(
    values,
    fc.nat(),
    fc.nat(3),
    fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', '\n', '0', '-', 'e', 'x'),
  )
  .map(([text, place, left, put]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + put + text.slice(at + left);
  });

describe('the progress of a JSON text', () => {
  it('says whether nothing, a part or the whole of a value has come', () => {
    assert.equal(read().state, 'empty');
    assert.equal(read(' \n').state, 'empty');
    for (const begun of [
      '{',
      '{"a',
      '{"a\\',
      '{"a\\u00',
      '{"a":',
      '{"a":1',
      '{"a":1,',
      '[',
      '[1,',
      '"',
      'tru',
      '-',
      '1e',
    ])
      assert.equal(read(begun).state, 'begun', begun);
    for (const whole of ['{}', ' {"a":[1,{"b":null}]} ', '[]', '"a"', 'true', '12', '-0.5e+1'])
      assert.equal(read(whole).state, 'whole', whole);
    for (const faulty of [
      '}',
      '{a',
      "{'",
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '[1,]',
      '{]',
      '{}{',
      '{} x',
      '[01,',
      '"\n',
      'x',
      '{"a": trus',
      '-a',
      '1.e',
    ])
      assert.equal(read(faulty).state, 'faulty', faulty);
  });

  it('knows an object from its first character', () => {
    assert.equal(read('').isObject, false);
    assert.equal(read('[{').isObject, false);
    assert.equal(read(' {').isObject, true);
  });

  it('refuses more than 256 levels', () => {
    assert.equal(read('['.repeat(256)).state, 'begun');
    assert.equal(read('['.repeat(257)).state, 'faulty');
  });

  itInRounds(
    'agrees with JSON.parse on every text, and says the same however it is cut',
    { few: 2_000, many: 100_000 },
    (numRuns) => {
      fc.assert(
        fc.property(texts, fc.integer({ min: 1, max: 5 }), (text, length) => {
          const pieces = Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
            text.slice(at * length, (at + 1) * length),
          );
          const { state } = read(...pieces);
          assert.equal(state === 'whole', isJson(text), text);
          assert.equal(read(text).state, state);
        }),
        { numRuns },
      );
    },
  );

  itInRounds('says of each beginning of a JSON text that it is no fault', { few: 500, many: 10_000 }, (numRuns) => {
    fc.assert(
      fc.property(values, fc.nat(), (text, place) => {
        assert.notEqual(read(text.slice(0, place % text.length)).state, 'faulty');
      }),
      { numRuns },
    );
  });
});
