import assert from 'node:assert/strict';
import { FairPlaces } from '#shared/async/fair-queue.ts';

describe('FairPlaces', () => {
  it('divide the number of places among owners', () => {
    const places = new FairPlaces({ maxPlaces: 4, maxBytes: 1_000 });
    assert.ok(places.take('one', 1) && places.take('one', 1));
    assert.equal(places.take('one', 1), false);
    assert.ok(places.take('other', 1));
    places.giveBack('one', 1);
    assert.ok(places.take('one', 1));
  });

  it('divide the bytes among owners, and count nothing of what is refused', () => {
    const places = new FairPlaces({ maxPlaces: 100, maxBytes: 100 });
    assert.ok(places.take('one', 60));
    assert.equal(places.take('one', 1), false);
    assert.equal(places.take('other', 41), false);
    assert.ok(places.take('other', 40));
    places.giveBack('one', 60);
    places.giveBack('other', 40);
    assert.deepEqual([places.taken, places.bytes, places.refused], [0, 0, 2]);
    assert.ok(places.take('third', 100));
  });

  it('give one owner no more places than it may have', () => {
    const places = new FairPlaces({ maxPlaces: 100, maxPlacesOfOwner: 1 });
    assert.ok(places.take('one'));
    assert.deepEqual([places.hasAll('one'), places.take('one'), places.take('other')], [true, false, true]);
  });
});
