import assert from 'node:assert/strict';
import { heapBytes, maxHeapBytes } from '#projection-engine/heap-bytes.ts';

describe('memory of parsed JSON', () => {
  it('is mostly that of the containers where they are many', () => {
    assert.equal(heapBytes('[[],{}]'), 7 * 8 + 3 * 56);
    assert.equal(heapBytes('"text"'), 6 * 8);
    assert.equal(heapBytes(''), 0);
  });

  it('is never more than what a text of that length can take', () => {
    const deep = '['.repeat(100) + ']'.repeat(100);
    assert.equal(heapBytes(deep), maxHeapBytes(deep.length));
    for (const text of ['[[],[],[]]', '{"a":{"a":1}}', 'null']) assert.ok(heapBytes(text) <= maxHeapBytes(text.length));
  });
});
