import assert from 'node:assert/strict';
import { DocumentCache } from '#read-store/sqlite/sqlite-read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';

const document = (id: string, characters = 10) =>
  new StoredDocument(id, 1, JSON.stringify('x'.repeat(characters - 2)), 1);

describe('DocumentCache', () => {
  it('returns a kept document by collection and id until it is cleared', () => {
    const cache = new DocumentCache();
    const kept = document('a');
    cache.keep('flows', kept);
    assert.equal(cache.get('flows', 'a'), kept);
    assert.equal(cache.get('projects', 'a'), undefined);
    cache.clear();
    assert.equal(cache.get('flows', 'a'), undefined);
  });

  it('evicts the least recently used documents, and keeps none that is larger than the cache', () => {
    const cache = new DocumentCache(30);
    cache.keep('flows', document('a', 15));
    cache.keep('flows', document('b', 15));
    cache.get('flows', 'a');
    cache.keep('flows', document('c', 15));
    cache.keep('flows', document('d', 31));
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((id) => cache.get('flows', id) !== undefined),
      [true, false, true, false],
    );
  });
});
