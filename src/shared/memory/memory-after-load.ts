import { getHeapStatistics } from 'node:v8';
import { returnMemory } from './collect-garbage.ts';

/** The requests of a node, as the HTTP adapter counts them. */
export interface RequestActivity {
  /** The number of open requests. */
  open: number;
  /** When the last request was answered, in ms as `performance.now()` counts; null before the first. */
  lastAnswerAt: number | null;
  /**
   * The last request of a usual size, with all that it was made of. Nothing reads it. When memory is given back, V8 discards
   * the code that it has optimized for objects of a shape of which none lives, and an idle node would have none.
   */
  last: object | null;
}

/** The heap of this thread, the clock and the collection; a test replaces them. */
export interface MemoryAfterLoadOptions {
  readonly activity: Readonly<Pick<RequestActivity, 'open' | 'lastAnswerAt'>>;
  /** Milliseconds since some moment, never going back. Default: the machine's. */
  readonly now?: () => number;
  /** Returns the bytes that the heap holds, used or not. Default: those of this thread. */
  readonly heapBytes?: () => number;
  /** Default: V8's collection. */
  readonly returnMemory?: () => void;
  /** How often it is checked whether a load has ended. Default 500. */
  readonly checkMs?: number;
}

/** A load has ended when no request was open for this time. */
const quietMs = 2_000;
/** The shortest time between two collections. */
const minBetweenMs = 60_000;
/** A heap that has grown by less since the last collection has too little to give back. */
const minGrowthBytes = 48 * 1024 * 1024;

/**
 * Gives memory back to the system once a load has ended. V8 keeps the memory of a busy heap while nothing runs that makes
 * it collect again. The thread answers nothing during the collection, so there is at most one a minute, and only when no
 * request is open and none came for two seconds. What a start leaves is given back too:
 * docs/adr/0092-a-node-gives-memory-back-after-a-load.md has the figures.
 */
export class MemoryAfterLoad {
  readonly #options: Required<MemoryAfterLoadOptions>;
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  #lastCollectionAt = Number.NEGATIVE_INFINITY;
  #bytesAfterCollection = 0;
  /** The answer after which the heap was looked at last; undefined before it was. */
  #lookedAfter: number | null | undefined;

  constructor(options: MemoryAfterLoadOptions) {
    const heapBytes = () => getHeapStatistics().total_heap_size;
    this.#options = { now: () => performance.now(), heapBytes, returnMemory, checkMs: 500, ...options };
    this.#startedAt = this.#options.now();
    this.#timer = setInterval(() => this.#check(), this.#options.checkMs).unref();
  }

  /** Collects no more. */
  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const { activity, now, heapBytes, returnMemory } = this.#options;
    const { open, lastAnswerAt } = activity;
    if (open > 0 || this.#lookedAfter === lastAnswerAt) return;
    const time = now();
    if (time - (lastAnswerAt ?? this.#startedAt) < quietMs || time - this.#lastCollectionAt < minBetweenMs) return;
    this.#lookedAfter = lastAnswerAt;
    if (heapBytes() - this.#bytesAfterCollection < minGrowthBytes) return;
    returnMemory();
    // The first load after a start need not wait for a minute.
    if (lastAnswerAt !== null) this.#lastCollectionAt = now();
    this.#bytesAfterCollection = heapBytes();
  }
}
