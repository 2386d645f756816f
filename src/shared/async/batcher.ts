/** How long the first item of a batch waits. */
const batchDelayMs = 50;
/** Items handed over in one turn at most: more would hold up what else the turn has to do. */
const itemsAtOnce = 100;
const mostWaiting = 10_000;

/**
 * Gathers items after requests and handles them a little later, many at a time: one by one and at once, they would hold
 * up the next request and take several times as long. It is no `Debouncer`, whose work is asynchronous: `drain` has to
 * be done when it returns, because metrics are read right after it.
 */
export class Batcher<Item> {
  readonly #take: (items: ReadonlyArray<Item>) => void;
  #waiting: Item[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** @param take does what is to be done; never throws */
  constructor(take: (items: ReadonlyArray<Item>) => void) {
    this.#take = take;
  }

  /** Adds an item. Where ten thousand wait, these are done first. */
  add(item: Item): void {
    if (this.#waiting.push(item) >= mostWaiting) this.drain();
    else this.#timer ??= setTimeout(this.#handOver, batchDelayMs).unref();
  }

  /** Does at once what waits. */
  drain(): void {
    const items = this.#waiting;
    this.#waiting = [];
    if (items.length > 0) this.#take(items);
  }

  readonly #handOver = (): void => {
    this.#timer = null;
    const items = this.#waiting.splice(0, itemsAtOnce);
    if (items.length > 0) this.#take(items);
    if (this.#waiting.length > 0) setImmediate(this.#handOver);
  };
}
