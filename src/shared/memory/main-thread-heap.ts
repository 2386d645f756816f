import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { collectAllGarbage } from './collect-garbage.ts';
import { outOfMemoryText } from './thread-heap.ts';

/**
 * Calls the function after full collections of this thread's heap, with the time when the last one began. Returns the
 * end of the watch.
 */
type Watch = (afterCollection: (beganAtMs: number) => void) => () => void;

/** Options that describe the heap. A test replaces them. */
export interface MainThreadHeapOptions {
  /** Called once, with the error that names the thread and its bound. */
  readonly onFull: (error: Error) => void;
  /** Maximum size of objects that stay. Default: what the command line allows this thread. */
  readonly maxBytes?: number;
  /** The size of all objects of this thread, garbage included. Default: as V8 reports it. */
  readonly usedBytes?: () => number;
  /** Collects garbage. Default: V8's collection. */
  readonly collect?: () => void;
  /** Watches collections. Default: what Node reports of V8's collections. */
  readonly watch?: Watch;
}

const mebibyte = 1024 * 1024;
/** Beyond this part of its bound V8 collects all the time, and may give up before the heap is full. */
const fullPart = 0.8;
/** A young generation has two halves, and room for one half of large objects. */
const halvesOfYoungGeneration = 3;
/** The size of a half by default, where no flag gives another one. */
const usualHalfMb = 64;
const halfFlag = /--max[-_]semi[-_]space[-_]size[= ](\d+)/g;

/**
 * Ends the bounds of the command line for threads that start from now on. V8 would prefer `--max-old-space-size` to the
 * bound that each thread has of its own (`ThreadHeap`). The heap of the main thread, which calls this, has its bound by now.
 */
export function keepBoundForMainThread(): void {
  setFlagsFromString('--max-old-space-size=0');
}

/**
 * Watches the bound of the main thread's heap (docs/adr/0104-the-main-threads-heap-has-a-bound.md). V8 ends a process
 * whose main thread is out of memory immediately, with many lines of its own, and no JavaScript runs any more. So this
 * looks at what a full collection leaves, and reports a heap that is nearly full while the process can still say so.
 * Garbage does not count: when the heap seems full, all garbage is collected before it is looked at again.
 *
 * The look comes in the next turn of the event loop. One turn, or one allocation, that fills the rest of the heap still
 * ends the process with V8's message. Nothing that was acknowledged is lost then either, because it is on disk.
 */
export class MainThreadHeap {
  readonly #options: Required<MainThreadHeapOptions>;
  readonly #endWatch: () => void;
  /** When the last collection of this class ended. It needs no look: V8 collects again when it must. */
  #collectedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: MainThreadHeapOptions) {
    const own = { usedBytes: usedBytesOfThread, collect: collectAllGarbage, watch: watchCollections };
    this.#options = { maxBytes: maxBytesOfThread(), ...own, ...options };
    this.#endWatch = this.#options.watch((beganAtMs) => this.#look(beganAtMs));
  }

  close(): void {
    this.#endWatch();
  }

  #look(beganAtMs: number): void {
    const { collect, maxBytes, onFull } = this.#options;
    if (beganAtMs < this.#collectedAtMs || !this.#seemsFull()) return;
    collect();
    this.#collectedAtMs = performance.now();
    if (!this.#seemsFull()) return;
    this.close();
    onFull(new Error(outOfMemoryText('The main thread', Math.round(maxBytes / mebibyte))));
  }

  #seemsFull(): boolean {
    return this.#options.usedBytes() > fullPart * this.#options.maxBytes;
  }
}

function usedBytesOfThread(): number {
  return getHeapStatistics().used_heap_size;
}

/** V8 reports the limits of both generations as one. */
function maxBytesOfThread(): number {
  return getHeapStatistics().heap_size_limit - halvesOfYoungGeneration * maxHalfMb() * mebibyte;
}

function maxHalfMb(): number {
  const flags = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].join(' ');
  const given = [...flags.matchAll(halfFlag)].at(-1)?.[1];
  return given === undefined ? usualHalfMb : Number(given);
}

const watchCollections: Watch = (afterCollection) => {
  const observer = new PerformanceObserver((list) => {
    const last = list.getEntries().findLast(isFullCollection);
    if (last !== undefined) afterCollection(last.startTime);
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
};

/** True for a full collection. Node's types lack what its entry has. */
function isFullCollection(entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
