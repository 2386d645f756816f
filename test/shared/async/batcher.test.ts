import assert from 'node:assert/strict';
import { Batcher } from '#shared/async/batcher.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('Batcher', () => {
  let taken: number[][];
  let batches: Batcher<number>;
  const add = (count: number) => {
    for (let item = 0; item < count; item += 1) batches.add(item);
  };

  beforeEach(() => {
    taken = [];
    batches = new Batcher<number>((items) => taken.push([...items]));
  });

  it('passes items on later, in order, a hundred in one turn', async () => {
    add(250);
    assert.equal(taken.length, 0);
    await eventually(() => taken.length === 3, 'all are handed over');
    assert.deepEqual(
      taken.map((items) => items.length),
      [100, 100, 50],
    );
    assert.deepEqual(
      taken.flat(),
      Array.from({ length: 250 }, (_, item) => item),
    );
  });

  it('passes items on immediately when it is drained, and only once', async () => {
    add(3);
    batches.drain();
    assert.deepEqual(taken, [[0, 1, 2]]);
    batches.drain();
    add(1);
    await eventually(() => taken.flat().length === 4, 'the next one is handed over');
    assert.deepEqual(taken[1], [0]);
  });

  it('passes on as many items in one turn as its limit allows, after the requested delay', async () => {
    batches = new Batcher<number>((items) => taken.push([...items]), { delayMs: 200, maxItemsAtOnce: 1_000 });
    const began = performance.now();
    add(250);
    await eventually(() => taken.length === 1, 'all are handed over');
    assert.equal(taken[0]?.length, 250);
    // A timer may be a millisecond early.
    assert.ok(performance.now() - began >= 199);
  });

  it('passes items on immediately when it holds ten thousand', () => {
    add(10_000);
    assert.equal(taken.flat().length, 10_000);
  });
});
