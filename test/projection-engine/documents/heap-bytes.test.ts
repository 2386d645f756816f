import assert from 'node:assert/strict';
import { heapBytes, maxHeapBytes } from '#projection-engine/documents/buffered-document.ts';

describe('heapBytes', () => {
  it('estimates the memory of parsed JSON from its length and its number of containers', () => {
    assert.equal(heapBytes('[[],{}]'), 7 * 8 + 3 * 56);
    assert.equal(heapBytes('"text"'), 6 * 8);
    assert.equal(heapBytes(''), 0);
  });

  it('never estimates more memory than maxHeapBytes allows for a text of that length', () => {
    const deep = '['.repeat(100) + ']'.repeat(100);
    assert.equal(heapBytes(deep), maxHeapBytes(deep.length));
    for (const text of ['[[],[],[]]', '{"a":{"a":1}}', 'null']) assert.ok(heapBytes(text) <= maxHeapBytes(text.length));
  });
});
