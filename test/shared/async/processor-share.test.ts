import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';

/** Computes in short turns for a time, and reports how many turns there were. */
const busyThread = (limit: string) => `
  import { parentPort } from 'node:worker_threads';
  import { setImmediate as nextTurn } from 'node:timers/promises';
  ${limit}
  let turns = 0;
  const end = performance.now() + 1_500;
  while (performance.now() < end) {
    const from = performance.now();
    while (performance.now() - from < 1);
    turns += 1;
    await nextTurn();
  }
  parentPort.postMessage(turns);
`;

async function turnsOf(limit: string): Promise<number> {
  const url = new URL(`data:text/javascript,${encodeURIComponent(busyThread(limit))}`);
  const worker = new Worker(url);
  try {
    return await new Promise<number>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  } finally {
    await worker.terminate();
  }
}

describe('limitProcessorShare', () => {
  it('lets a thread compute for about its share of the time', async function () {
    this.timeout(20_000);
    const module = new URL('../../../src/shared/async/processor-share.ts', import.meta.url).href;
    const limited = await turnsOf(
      `const { limitProcessorShare } = await import('${module}'); limitProcessorShare(0.1);`,
    );
    const free = await turnsOf('');
    assert.ok(limited >= 10, `${limited} turns`);
    assert.ok(limited < free / 4, `${limited} of ${free} turns`);
  });
});
