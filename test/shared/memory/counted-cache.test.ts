import assert from 'node:assert/strict';
import { countedCache } from '#shared/memory/counted-cache.ts';

describe('countedCache', () => {
  it('drops the least recently used entry beyond its number', () => {
    const cache = countedCache<number>(2);
    cache.set('a', 1).set('b', 2);
    assert.equal(cache.get('a'), 1);
    cache.set('c', 3);
    assert.deepEqual([...cache.keys()].sort(), ['a', 'c']);
  });

  it('replaces an entry without dropping another one', () => {
    const cache = countedCache<number>(2);
    cache.set('a', 1).set('b', 2).set('b', 3);
    assert.deepEqual([cache.get('a'), cache.get('b')], [1, 3]);
  });

  it('forgets an entry after its time', () => {
    let now = 1;
    const cache = countedCache<true>(2, { ttl: 100, ttlResolution: 0, perf: { now: () => now } });
    cache.set('a', true);
    now += 100;
    assert.equal(cache.has('a'), true);
    now += 1;
    assert.equal(cache.has('a'), false);
  });

  it('takes no memory for entries that it does not have', () => {
    const before = process.memoryUsage().heapUsed;
    const caches = Array.from({ length: 100 }, () => countedCache<number>(100_000));
    assert.ok(process.memoryUsage().heapUsed - before < caches.length * 100_000);
  });
});
