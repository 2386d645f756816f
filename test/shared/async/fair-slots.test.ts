import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { FairSlots, type LeaveSlot, type SlotRefusal } from '#shared/async/fair-queue.ts';

const end = (slot: LeaveSlot | SlotRefusal) => {
  assert.ok(typeof slot === 'function', String(slot));
  slot();
};

describe('fair slots', () => {
  it('serve owners in turn, and the calls of one owner in their order', async () => {
    const slots = new FairSlots({ maxSlots: 1 });
    const first = await slots.enter('a');
    const order: string[] = [];
    const calls = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(async (name) => {
      const slot = await slots.enter(name.charAt(0));
      order.push(name);
      end(slot);
    });
    assert.equal(slots.waiting, 6);
    end(first);
    await Promise.all(calls);
    assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    assert.deepEqual([slots.taken, slots.waiting], [0, 0]);
  });

  it('pass over an owner that has all its slots', async () => {
    const slots = new FairSlots({ maxSlots: 2, maxSlotsOfOwner: 1 });
    const first = await slots.enter('a');
    const waiting = slots.enter('a');
    const other = await slots.enter('b');
    const third = slots.enter('c');
    end(other);
    const ofThird = await third;
    assert.equal(slots.taken, 2);
    end(first);
    end(await waiting);
    end(ofThird);
    assert.equal(slots.taken, 0);
  });

  it('refuse a call when too many of its owner wait, or too many in all', async () => {
    const slots = new FairSlots({ maxSlots: 1, maxWaitingOfOwner: 1, maxWaiting: 2 });
    const first = await slots.enter('a');
    const calls = [slots.enter('a'), slots.enter('b')];
    assert.equal(await slots.enter('a'), 'owner-waits');
    assert.equal(await slots.enter('c'), 'all-wait');
    end(first);
    for (const call of calls) end(await call);
  });

  it('refuse a call that waits too long, and serve the next one', async () => {
    const slots = new FairSlots({ maxSlotsOfOwner: 1, maxWaitMs: 20 });
    const first = await slots.enter('a');
    assert.equal(await slots.enter('a'), 'too-late');
    const next = slots.enter('a');
    end(first);
    end(await next);
  });

  it('leave an owner its turn when one of its calls waits too long', async () => {
    const slots = new FairSlots({ maxSlots: 1, maxWaitMs: 200 });
    const first = await slots.enter('x');
    const late = slots.enter('a');
    await setTimeout(120);
    const order: string[] = [];
    const calls = ['a', 'b'].map(async (name) => {
      const slot = await slots.enter(name);
      order.push(name);
      end(slot);
    });
    assert.equal(await late, 'too-late');
    end(first);
    await Promise.all(calls);
    assert.deepEqual(order, ['a', 'b']);
  });

  it('free a slot only once when it is left twice', async () => {
    const slots = new FairSlots({ maxSlots: 1 });
    const first = await slots.enter('a');
    const second = slots.enter('b');
    const third = slots.enter('c');
    end(first);
    end(first);
    const ofSecond = await second;
    assert.deepEqual([slots.taken, slots.waiting], [1, 1]);
    end(ofSecond);
    end(await third);
  });
});
