import assert from 'node:assert/strict';
import fc from 'fast-check';
import patches, { type Operation } from 'fast-json-patch';
import { type JsonPatch, jsonPatch } from '#shared/codecs/json-patch.ts';
import type { Json } from '#shared/json/json.ts';
import { patchableJson } from '#test/support/inputs/patchable-json.ts';

/** Applies a patch to a value of any type. */
function apply(before: Json, patch: JsonPatch): Json {
  const moved = patch.map((operation) => ({ ...operation, path: `/value${operation.path}` }));
  return patches.applyPatch({ value: before }, moved as Operation[], true, false, false).newDocument.value;
}

const value = patchableJson(4);

describe('jsonPatch', () => {
  it('leads from any value to any other', () => {
    fc.assert(
      fc.property(value, value, (before, after) => {
        assert.deepEqual(apply(before, jsonPatch(before, after)), after);
        assert.deepEqual(apply(after, jsonPatch(after, before)), before);
      }),
      { numRuns: 300 },
    );
  });

  it('is empty for equal values', () => {
    fc.assert(fc.property(value, (same) => assert.deepEqual(jsonPatch(same, structuredClone(same)), [])));
  });

  it('changes members of an object one by one, and escapes their names', () => {
    const patch = jsonPatch({ 'a/b': 1, 'm~n': [1, 2], kept: true }, { 'a/b': 2, 'm~n': [1], kept: true });
    assert.deepEqual(
      patch.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
      [
        { op: 'replace', path: '/a~1b', value: 2 },
        { op: 'remove', path: '/m~0n/1' },
      ],
    );
  });

  it('replaces a whole value when the single changes would be longer', () => {
    const name = 'n'.repeat(50_000);
    const deep = (text: string) => ({
      [name]: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, text])),
    });
    assert.deepEqual(jsonPatch(deep('a'), deep('b')), [{ op: 'replace', path: '', value: deep('b') }]);
  });

  it('uses no memory for the paths of a patch that it does not return', () => {
    const leaves = (text: string) => Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, text]));
    const deep = (text: string) =>
      Array.from({ length: 200 }).reduce<Json>((inner) => ({ ['n'.repeat(1_500)]: inner }), leaves(text));
    // All paths together would take 6 GB.
    assert.equal(jsonPatch(deep('a'), deep('b')).length, 1);
  });

  it('compares members that are named like inherited members', () => {
    const before = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}');
    const after = JSON.parse('{"__proto__": {"a": 2}, "hasOwnProperty": 1}');
    assert.deepEqual(
      jsonPatch(before, after)
        .map(({ op, path }) => `${op} ${path}`)
        .toSorted(),
      ['add /hasOwnProperty', 'remove /constructor', 'replace /__proto__/a'],
    );
  });
});
