import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { returnMemory } from '#shared/memory/collect-garbage.ts';
import { MemoryAfterLoad } from '#shared/memory/memory-after-load.ts';

const megabyte = 1_024 * 1_024;

describe('Memory after a load', () => {
  /** A heap of 30 MB of live objects. Time passes only as the test says; the timer of the class looks every 5 ms. */
  class Heap {
    now = 0;
    bytes = 100 * megabyte;
    collections = 0;
    looks = 0;
    readonly activity = { open: 0, lastAnswerAt: null as number | null };
    readonly memory = new MemoryAfterLoad({
      activity: this.activity,
      checkMs: 5,
      now: () => this.now,
      heapBytes: () => {
        this.looks += 1;
        return this.bytes;
      },
      returnMemory: () => {
        this.collections += 1;
        this.bytes = 30 * megabyte;
      },
    });

    answer(): void {
      this.activity.lastAnswerAt = this.now;
    }

    /** Waits until the class has looked at least once more. */
    async look(): Promise<number> {
      await sleep(50);
      return this.collections;
    }
  }

  let heap: Heap;
  beforeEach(() => {
    heap = new Heap();
  });
  afterEach(() => heap.memory.close());

  it('is given back two seconds after the last request', async () => {
    heap.answer();
    heap.now = 1_999;
    assert.equal(await heap.look(), 0);
    heap.now = 2_000;
    assert.equal(await heap.look(), 1);
  });

  it('is kept while a request is open', async () => {
    heap.activity.open = 1;
    heap.now = 10_000;
    assert.equal(await heap.look(), 0);
    heap.activity.open = 0;
    heap.answer();
    heap.now = 12_000;
    assert.equal(await heap.look(), 1);
  });

  it('is given back after the start too, and then after the first load without a further wait', async () => {
    heap.now = 2_000;
    assert.equal(await heap.look(), 1);
    heap.bytes = 100 * megabyte;
    heap.now = 3_000;
    heap.answer();
    heap.now = 5_000;
    assert.equal(await heap.look(), 2);
  });

  it('is given back at most once a minute', async () => {
    heap.now = 1;
    heap.answer();
    heap.now = 3_000;
    assert.equal(await heap.look(), 1);
    heap.bytes = 100 * megabyte;
    heap.answer();
    heap.now = 62_999;
    assert.equal(await heap.look(), 1);
    heap.now = 63_000;
    assert.equal(await heap.look(), 2);
  });

  it('is not looked at again when the heap has little to give back', async () => {
    heap.now = 1;
    heap.answer();
    heap.now = 3_000;
    assert.equal(await heap.look(), 1);
    heap.bytes = 40 * megabyte;
    heap.answer();
    heap.now = 100_000;
    await heap.look();
    const { looks } = heap;
    await heap.look();
    assert.deepEqual([heap.looks, heap.collections], [looks, 1]);
  });

  it('is that of this thread by default', () => {
    const live = Array.from({ length: 400_000 }, (_, index) => ({ index, text: `text ${index}` }));
    const full = getHeapStatistics().total_heap_size;
    assert.equal(live.length, 400_000);
    live.length = 0;
    returnMemory();
    const left = getHeapStatistics().total_heap_size;
    assert.ok(left < full - 10 * megabyte, `${left} of ${full} bytes are left`);
  });
});
