import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonMemberReader } from '#gateway/framing/json-member-reader.ts';

function read(text: string | Buffer, cuts: ReadonlyArray<number> = [], names = ['usage', 'data']): JsonMemberReader {
  const bytes = Buffer.from(text);
  const reader = new JsonMemberReader(names);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    reader.feed(bytes.subarray(from, end));
    from = end;
  }
  return reader;
}

describe('JSON member reader', () => {
  it('finds the wanted members of any object, wherever its bytes are cut', () => {
    const object = fc.dictionary(
      fc.oneof(fc.constantFrom('usage', 'data', 'us\\age', '"usage"'), fc.string()),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(object, fc.array(fc.nat()), fc.boolean(), (value, cuts, isSpaced) => {
        const reader = read(JSON.stringify(value, null, isSpaced ? 2 : 0), cuts);
        assert.equal(reader.state, 'complete');
        const parsed = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        for (const name of ['usage', 'data']) {
          assert.equal(reader.has(name), Object.hasOwn(parsed, name));
          assert.deepEqual(reader.value(name), Object.hasOwn(parsed, name) ? parsed[name] : undefined);
        }
      }),
    );
  });

  it('knows names with escapes, and takes the last of two members', () => {
    assert.equal(read('{"us\\u0061ge":1,"usage":2}').value('usage'), 2);
    assert.equal(read('{"\\"usage":1}').has('usage'), false);
  });

  it('passes over members of inner objects', () => {
    const reader = read('{"data":[{"usage":1,"text":"}\\"]"}],"usage":{"usage":3}}');
    assert.deepEqual(reader.value('usage'), { usage: 3 });
  });

  it('keeps the presence alone of a noted member', () => {
    const reader = new JsonMemberReader(['usage'], ['data']);
    reader.feed(Buffer.from('{"data":[1],"usage":2,"other":3}'));
    assert.deepEqual([reader.has('data'), reader.value('data'), reader.value('usage')], [true, undefined, 2]);
    assert.equal(reader.has('other'), false);
  });

  it('keeps no value of more than 64 KiB', () => {
    const reader = read(JSON.stringify({ data: 'x'.repeat(70_000), usage: 1 }), [10, 30_000, 69_000]);
    assert.deepEqual([reader.has('data'), reader.value('data'), reader.value('usage')], [true, undefined, 1]);
  });

  for (const [text, state] of [
    ['', 'open'],
    ['{"data":[1,2', 'open'],
    ['{"data":"}', 'open'],
    ['[1]', 'malformed'],
    ['<html>', 'malformed'],
    ['{} {}', 'malformed'],
    ['{"data":1]', 'malformed'],
    [' {"data":[]} \n', 'complete'],
  ] as const)
    it(`is ${state} after ${JSON.stringify(text)}`, () => {
      assert.equal(read(text).state, state);
    });
});
