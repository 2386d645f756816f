import { Unavailable } from '#src/unavailable.ts';

const defaultMaxWaiting = 1_000;

/** Lets the tasks of one stream take turns, in order; tasks of different streams do not wait for each other. */
export class StreamQueue {
  readonly #waiting = new Map<string, Array<() => void>>();
  readonly #maxWaiting: number;

  /** @param maxWaiting how many may wait for one stream */
  constructor(maxWaiting = defaultMaxWaiting) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs a task when those before it on the same stream have ended.
   * @param deadline on `performance.now()`'s clock; a turn that comes later is given up
   * @throws Unavailable when the queue is full or the turn came too late
   */
  async run<A>(stream: string, deadline: number, task: () => Promise<A>): Promise<A> {
    await this.#turn(stream);
    try {
      if (performance.now() > deadline) throw new Unavailable(`${categoryOf(stream)} is too busy`);
      return await task();
    } finally {
      this.#next(stream);
    }
  }

  #turn(stream: string): Promise<void> | undefined {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) {
      this.#waiting.set(stream, []);
      return undefined;
    }
    if (waiting.length >= this.#maxWaiting) throw new Unavailable(`${categoryOf(stream)} is too busy`);
    return new Promise((resolve) => waiting.push(resolve));
  }

  #next(stream: string): void {
    const next = this.#waiting.get(stream)?.shift();
    if (next === undefined) this.#waiting.delete(stream);
    else next();
  }
}

const categoryOf = (stream: string) => `the ${stream.slice(0, stream.indexOf('-'))}`;
