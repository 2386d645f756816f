import assert from 'node:assert/strict';
import { NestedMap } from '#shared/memory/nested-map.ts';

describe('NestedMap', () => {
  it('has the value of exactly the key that was set', () => {
    const map = new NestedMap<string | null, number>();
    map.set(['a', 'b'], 1);
    map.set(['a', null], 2);
    const found = [['a', 'b'], ['a', null], ['a'], [], ['b', 'a'], ['a', 'b', 'c'], ['ab']].map((key) => map.get(key));
    assert.deepEqual(found, [1, 2, undefined, undefined, undefined, undefined, undefined]);
  });

  it('replaces a value, and keeps those with longer keys', () => {
    const map = new NestedMap<string, number>();
    map.set(['a', 'b'], 1);
    map.set(['a'], 2);
    map.set(['a'], 3);
    assert.deepEqual([map.get(['a']), map.get(['a', 'b'])], [3, 1]);
  });
});
