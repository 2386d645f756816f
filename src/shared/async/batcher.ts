import { clock, type Timer } from '#shared/clock.ts';

/**
 * The default delay, which is shorter than the time between two collections of the young generation under load, so that
 * items die in it.
 */
const defaultDelayMs = 10;
/** Maximum number of items in one turn by default. More would delay other work of the turn. */
const defaultMaxItemsAtOnce = 100;
const maxWaiting = 10_000;

export interface BatcherOptions {
  /** How long the first item of a batch waits. Default 10 ms. */
  readonly delayMs?: number;
  /** Maximum number of items in one turn of the event loop. Default 100. */
  readonly maxItemsAtOnce?: number;
}

/**
 * Collects items after requests and handles them a little later, many at a time. To handle each immediately would delay
 * the next request and take several times as long. A `Debouncer` does not fit here, because its work is asynchronous:
 * `drain` must be complete when it returns, because metrics are read right after it.
 */
export class Batcher<Item> {
  readonly #take: (items: ReadonlyArray<Item>) => void;
  readonly #delayMs: number;
  readonly #maxItemsAtOnce: number;
  #waiting: Item[] = [];
  #timer: Timer | null = null;

  /** @param take handles items; it never throws */
  constructor(take: (items: ReadonlyArray<Item>) => void, options: BatcherOptions = {}) {
    this.#take = take;
    this.#delayMs = options.delayMs ?? defaultDelayMs;
    this.#maxItemsAtOnce = options.maxItemsAtOnce ?? defaultMaxItemsAtOnce;
  }

  /** Adds an item. If ten thousand wait, it handles them first. */
  add(item: Item): void {
    if (this.#waiting.push(item) >= maxWaiting) this.drain();
    else this.#timer ??= clock.setTimeout(this.#handOver, this.#delayMs).unref();
  }

  drain(): void {
    const items = this.#waiting;
    this.#waiting = [];
    if (items.length > 0) this.#take(items);
  }

  readonly #handOver = (): void => {
    this.#timer = null;
    const items = this.#waiting.splice(0, this.#maxItemsAtOnce);
    if (items.length > 0) this.#take(items);
    if (this.#waiting.length > 0) clock.setImmediate(this.#handOver);
  };
}
