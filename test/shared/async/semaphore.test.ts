import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from 'mocha';
import { Semaphore } from '#shared/async/semaphore.ts';

describe('Semaphore', () => {
  it('lets no more callers in at the same time than its count, in the order in which they ask', async () => {
    const semaphore = new Semaphore(2, new AbortController().signal);
    const entered: string[] = [];
    for (const name of ['first', 'second', 'third', 'fourth']) void semaphore.acquire().then(() => entered.push(name));
    await nextTurn();
    assert.deepEqual(entered, ['first', 'second']);
    semaphore.release();
    await nextTurn();
    assert.deepEqual(entered, ['first', 'second', 'third']);
  });

  it('keeps a released place for the next caller when no caller waits', async () => {
    const semaphore = new Semaphore(1, new AbortController().signal);
    await semaphore.acquire();
    semaphore.release();
    let isIn = false;
    void semaphore.acquire().then(() => {
      isIn = true;
    });
    await nextTurn();
    assert.equal(isIn, true);
  });

  it('lets every caller in once its signal aborts', async () => {
    const stopping = new AbortController();
    const semaphore = new Semaphore(1, stopping.signal);
    await semaphore.acquire();
    let entered = 0;
    for (let caller = 0; caller < 3; caller += 1)
      void semaphore.acquire().then(() => {
        entered += 1;
      });
    await nextTurn();
    assert.equal(entered, 0);
    stopping.abort();
    await semaphore.acquire();
    await nextTurn();
    assert.equal(entered, 3);
  });
});
