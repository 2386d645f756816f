import assert from 'node:assert/strict';
import * as t from 'io-ts';
import { describe, it } from 'mocha';
import { jsonSchema } from '#application/operations/json-schema.ts';
import { unknownMembers, unknownParameters } from '#application/operations/unknown-members.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { json, jsonObject } from '#shared/codecs/json-value.ts';
import { list } from '#shared/codecs/list.ts';
import { object } from '#shared/codecs/object.ts';

describe('unknownMembers', () => {
  const codec = t.intersection([
    t.type({ name: t.string, free: jsonObject, any: json, items: list(object({ key: t.string }, { note: t.string })) }),
    t.partial({
      either: nullable(t.union([t.type({ a: t.string }), t.type({ b: t.string })])),
      map: t.record(t.string, t.string),
    }),
  ]);
  const pointersIn = (body: object) => unknownMembers(jsonSchema(codec), body as never).map(({ pointer }) => pointer);

  it('names unknown members at every depth', () => {
    const items = [{ key: 'k' }, { key: 'k', nope: 1 }];
    assert.deepEqual(pointersIn({ name: 'n', 'a/b': 1, items }), ['/a~1b', '/items/1/nope']);
  });

  it('does not look into free-form members', () => {
    assert.deepEqual(pointersIn({ free: { x: { y: 1 } }, any: { x: 1 }, map: { x: 'y' } }), []);
  });

  it('compares with the alternative that knows the most members', () => {
    assert.deepEqual(pointersIn({ either: { b: 'x' } }), []);
    assert.deepEqual(pointersIn({ either: { b: 'x', c: 1 } }), ['/either/c']);
    assert.deepEqual(pointersIn({ either: null }), []);
  });

  it('names at most 100 unknown members, and names every member when none is known', () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`m${index}`, 1]));
    assert.equal(pointersIn(many).length, 100);
    assert.deepEqual(unknownMembers(null, { a: 1 }), [{ pointer: '/a', message: 'is unknown' }]);
  });
});

describe('unknownParameters', () => {
  it('names each unknown parameter once', () => {
    assert.deepEqual(unknownParameters('limit=1&x=1&x=2', new Set(['limit'])), [
      { pointer: '/x', parameter: 'x', message: 'is unknown' },
    ]);
  });
});
