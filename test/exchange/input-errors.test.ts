import assert from 'node:assert/strict';
import * as t from 'io-ts';
import { describe, it } from 'mocha';
import { inputErrors, maxInputErrors } from '#exchange/input-errors.ts';
import { checked } from '#shared/codecs/checked.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';
import { list } from '#shared/codecs/list.ts';
import { object } from '#shared/codecs/object.ts';
import { text } from '#shared/codecs/text.ts';

/** Returns each input error as `pointer message`. */
function faults(codec: t.Mixed, input: unknown): ReadonlyArray<string> {
  const decoded = codec.decode(input);
  assert.equal(decoded._tag, 'Left');
  return inputErrors(decoded.left).map(({ pointer, message }) => `${pointer} ${message}`);
}

describe('inputErrors', () => {
  it('says what type a primitive must have', () => {
    const codec = t.type({
      a: t.string,
      b: t.number,
      c: t.boolean,
      d: t.null,
      e: t.literal('x'),
      f: t.array(t.string),
    });
    assert.deepEqual(faults(codec, { a: 1, b: '1', c: 0, d: 1, e: 'y', f: {} }), [
      '/a must be a string',
      '/b must be a number',
      '/c must be true or false',
      '/d must be null',
      '/e must be "x"',
      '/f must be an array',
    ]);
  });

  it('says which members are missing, and that a whole input is not an object', () => {
    const codec = t.intersection([t.type({ a: t.string }), t.partial({ b: t.string })]);
    assert.deepEqual(faults(codec, {}), ['/a is required']);
    assert.deepEqual(faults(codec, 7), [' must be an object']);
    assert.deepEqual(faults(t.type({ a: nullable(t.string) }), {}), ['/a is required']);
  });

  it('points through intersections, arrays and dictionaries by keys of the input only', () => {
    const item = t.intersection([t.type({ 'a/b~c': t.string }), t.partial({ n: t.number })]);
    const codec = t.exact(t.intersection([t.type({ list: t.array(item) }), t.type({ map: t.record(t.string, item) })]));
    assert.deepEqual(faults(codec, { list: [{ 'a/b~c': 'x' }, { 'a/b~c': 1, n: 'x' }], map: { '0': { n: 1 } } }), [
      '/list/1/a~1b~0c must be a string',
      '/list/1/n must be a number',
      '/map/0/a~1b~0c is required',
    ]);
  });

  it('reports a union once', () => {
    assert.deepEqual(faults(t.type({ a: nullable(t.string) }), { a: 1 }), ['/a must be a string or null']);
    assert.deepEqual(faults(t.type({ a: t.union([t.string, t.number, t.null]) }), { a: [] }), [
      '/a must be a string or a number or null',
    ]);
    assert.deepEqual(faults(t.partial({ a: withDefault(nullable(oneOf('x', 'y')), null) }), { a: 'z' }), [
      '/a must be one of "x", "y" or null',
    ]);
  });

  it('reports only the violated bound for a value of the right type', () => {
    assert.deepEqual(faults(t.type({ a: nullable(text({ max: 2 })) }), { a: 'abc' }), [
      '/a must have at most 2 characters, has 3',
    ]);
  });

  it('points into the alternative that fits best', () => {
    const codec = t.type({
      a: nullable(
        t.union([t.type({ kind: t.literal('x'), n: t.number }), t.type({ kind: t.literal('y'), s: t.string })]),
      ),
    });
    assert.deepEqual(faults(codec, { a: { kind: 'y', s: 1 } }), ['/a/s must be a string']);
  });

  it('points at list items that share a unique member, and at too short a list', () => {
    const codec = t.type({ a: list(object({ key: t.string }, {}), { min: 1, uniqueBy: 'key' }) });
    assert.deepEqual(faults(codec, { a: [{ key: 'x' }, { key: 'y' }, { key: 'x' }, 1] }), [
      '/a/2/key must be unique: item 0 has it too',
      '/a/3 must be an object',
    ]);
    assert.deepEqual(faults(codec, { a: [] }), ['/a must have at least 1 item']);
  });

  it('points below an intersection that is checked as a whole', () => {
    const same = object({ a: t.string }, { b: object({}, { c: t.string }) });
    const codec = checked(same, () => [{ path: ['b', 'c'], value: 'x', message: 'must be another' }]);
    assert.deepEqual(faults(codec, { a: 'x' }), ['/b/c must be another']);
    assert.deepEqual(faults(t.type({ d: t.array(codec) }), { d: [{ a: 'x' }] }), ['/d/0/b/c must be another']);
  });

  it('reports at most 100 input errors, without duplicates', () => {
    const many = Array.from({ length: 5_000 }, () => 1);
    const found = faults(t.array(t.string), many);
    assert.equal(found.length, maxInputErrors);
    assert.equal(new Set(found).size, maxInputErrors);
    assert.deepEqual(faults(t.intersection([t.type({ a: t.string }), t.type({ a: t.string })]), { a: 1 }), [
      '/a must be a string',
    ]);
  });
});
