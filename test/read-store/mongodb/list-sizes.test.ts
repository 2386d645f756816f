import assert from 'node:assert/strict';
import { ListSizes } from '#read-store/mongodb/mongodb-read-store.ts';

describe('sizes of lists', () => {
  it('are those of the last page of a list, and usual ones before the first', () => {
    const sizes = new ListSizes();
    const usual = sizes.bytesOf('a');
    sizes.remember('a', 100_000);
    sizes.remember('a', 50_000);
    assert.deepEqual([sizes.bytesOf('a'), sizes.bytesOf('b')], [50_000, usual]);
  });

  it('are remembered for the last thousand lists', () => {
    const sizes = new ListSizes();
    const usual = sizes.bytesOf('none');
    for (let number = 0; number < 1_001; number += 1) sizes.remember(`list ${number}`, 50_000);
    assert.deepEqual([sizes.bytesOf('list 0'), sizes.bytesOf('list 1')], [usual, 50_000]);
  });
});
