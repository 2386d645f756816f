import assert from 'node:assert/strict';
import { DocumentCache } from '#read-store/sqlite/document-cache.ts';

const document = (id: string) => ({ id, order: 1, value: { id } });

describe('document cache', () => {
  it('gives what was kept, by collection and id, until it is cleared', () => {
    const cache = new DocumentCache();
    cache.keep('flows', document('a'), 10);
    assert.deepEqual(cache.get('flows', 'a'), document('a'));
    assert.equal(cache.get('projects', 'a'), undefined);
    cache.clear();
    assert.equal(cache.get('flows', 'a'), undefined);
  });

  it('begins anew when it is full, and keeps nothing larger than itself', () => {
    const cache = new DocumentCache(20);
    cache.keep('flows', document('a'), 15);
    cache.keep('flows', document('b'), 15);
    assert.equal(cache.get('flows', 'a'), undefined);
    assert.deepEqual(cache.get('flows', 'b'), document('b'));
    cache.keep('flows', document('c'), 21);
    assert.equal(cache.get('flows', 'c'), undefined);
  });
});
