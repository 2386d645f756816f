import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';

describe('The heap of a thread', () => {
  const heap: ThreadHeap = { thread: 'counts sheep', maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 4 };

  async function errorOf(code: string): Promise<unknown> {
    const worker = new Worker(code, { eval: true, resourceLimits: heap });
    const [error] = await once(worker, 'error');
    return error;
  }

  it('is named, with its limit, in the error of a thread that has run out of memory', async () => {
    const endless = 'const kept = []; for (;;) kept.push(new Array(10_000).fill({}));';
    const { message } = threadError(await errorOf(endless), heap);
    assert.equal(message, 'The thread that counts sheep has run out of memory: its heap may have 12 MB.');
  });

  it('is not named in another error, which stays as it is', async () => {
    assert.equal(threadError(await errorOf("throw new Error('lost count')"), heap).message, 'lost count');
    assert.equal(threadError('a text', heap).message, 'a text');
  });
});
