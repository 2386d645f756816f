import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { collectAllGarbage, collectYoungGarbage } from '#shared/memory/collect-garbage.ts';
import { MainThreadHeap } from '#shared/memory/main-thread-heap.ts';

const megabyte = 1_024 * 1_024;
const run = promisify(execFile);
const source = new URL('../../../src/shared/memory/main-thread-heap.ts', import.meta.url).href;

/** Prints the limits of the heaps of the main thread and of a thread with a bound of its own, in MB. */
const program = `
  import { getHeapStatistics } from 'node:v8';
  import { Worker } from 'node:worker_threads';
  import { keepBoundForMainThread } from '${source}';
  keepBoundForMainThread();
  const limitMb = 'Math.round(require("node:v8").getHeapStatistics().heap_size_limit / 1024 / 1024)';
  const code = 'require("node:worker_threads").parentPort.postMessage(' + limitMb + ')';
  const worker = new Worker(code, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 50 } });
  worker.on('message', (mb) => console.log(Math.round(getHeapStatistics().heap_size_limit / 1024 / 1024), mb));
`;

describe('The heap of the main thread', () => {
  /** A heap of 100 MB. Its full collections are those of the test. */
  class Heap {
    liveMb = 10;
    garbageMb = 0;
    collections = 0;
    isWatched = true;
    readonly errors: string[] = [];
    report: (beganAtMs: number) => void = () => assert.fail('it is not watched');
    readonly watcher = new MainThreadHeap({
      onFull: ({ message }) => this.errors.push(message),
      maxBytes: 100 * megabyte,
      usedBytes: () => (this.liveMb + this.garbageMb) * megabyte,
      collect: () => {
        this.collections += 1;
        this.garbageMb = 0;
      },
      watch: (afterCollection) => {
        this.report = afterCollection;
        return () => {
          this.isWatched = false;
        };
      },
    });

    /** Another full collection of V8 has ended. */
    afterCollection(): void {
      this.report(performance.now());
    }
  }

  const outOfMemory = 'The main thread has run out of memory: its heap may have 100 MB.';

  it('is out of memory when a full collection leaves more than four fifths of its bound', () => {
    const heap = new Heap();
    heap.liveMb = 80;
    heap.afterCollection();
    assert.deepEqual(heap.errors, []);
    heap.liveMb = 81;
    heap.afterCollection();
    assert.deepEqual(heap.errors, [outOfMemory]);
  });

  it('is not out of memory while garbage fills it, which is collected', () => {
    const heap = new Heap();
    [heap.liveMb, heap.garbageMb] = [40, 55];
    heap.afterCollection();
    assert.deepEqual([heap.errors, heap.collections], [[], 1]);
  });

  it('costs no collection while it has room', () => {
    const heap = new Heap();
    [heap.liveMb, heap.garbageMb] = [40, 30];
    heap.afterCollection();
    assert.equal(heap.collections, 0);
  });

  it('is looked at again after a collection of V8, not after its own', () => {
    const heap = new Heap();
    const before = performance.now();
    [heap.liveMb, heap.garbageMb] = [60, 30];
    heap.afterCollection();
    heap.garbageMb = 30;
    heap.report(before);
    assert.equal(heap.collections, 1);
    heap.afterCollection();
    assert.equal(heap.collections, 2);
  });

  it('is reported once, and no longer watched', () => {
    const heap = new Heap();
    heap.liveMb = 90;
    heap.afterCollection();
    assert.equal(heap.isWatched, false);
    assert.deepEqual(heap.errors, [outOfMemory]);
  });

  it('keeps the bound of the command line, which is not that of a thread', async () => {
    const youngMb = 3 * 16;
    const flags = ['--max-semi-space-size=16', '--max-old-space-size=200', '--input-type=module'];
    const { stdout } = await run(process.execPath, [...flags, '--eval', program]);
    assert.equal(stdout, `${200 + youngMb} ${50 + youngMb}\n`);
  });

  it('is looked at after full collections of this thread alone', async () => {
    let looks = 0;
    const usedBytes = () => {
      looks += 1;
      return 0;
    };
    const watcher = new MainThreadHeap({ onFull: assert.fail, usedBytes });
    try {
      collectAllGarbage();
      await sleep(20);
      assert.ok(looks > 0);
      looks = 0;
      collectYoungGarbage();
      await sleep(20);
      assert.equal(looks, 0);
    } finally {
      watcher.close();
    }
  });
});
