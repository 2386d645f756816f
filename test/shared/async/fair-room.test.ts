import assert from 'node:assert/strict';
import { FairRoom, serviceOwner } from '#shared/async/fair-queue.ts';

/** Takes places for an owner until there is no room. @returns their number */
const fill = (room: FairRoom, owner: string) => {
  let taken = 0;
  while (room.take(owner)) taken += 1;
  return taken;
};

describe('a fair room', () => {
  it('gives an owner that is alone half, and always has room for an owner that has nothing', () => {
    const room = new FairRoom(1_000);
    assert.equal(fill(room, 'a'), 500);
    assert.equal(fill(room, 'b'), 250);
    for (let owner = 0; owner < 5; owner += 1) assert.ok(fill(room, `owner ${owner}`) > 0, `owner ${owner}`);
    assert.equal(room.take('a'), false);
  });

  it('has room for an owner again after it gave back enough', () => {
    const room = new FairRoom(4);
    assert.equal(fill(room, 'a'), 2);
    room.giveBack('a');
    assert.ok(room.take('a'));
    room.giveBack('a', 2);
    assert.deepEqual([room.taken, room.takenBy('a')], [0, 0]);
  });

  it('gives no amount that is larger than what is free', () => {
    const room = new FairRoom(100);
    assert.equal(room.take('a', 101), false);
    assert.ok(room.take('a', 60));
    assert.equal(room.take('b', 41), false);
    assert.ok(room.take('b', 40));
    assert.equal(room.taken, 100);
  });

  it('lets the service’s own work take all', () => {
    assert.equal(fill(new FairRoom(10), serviceOwner), 10);
  });
});
