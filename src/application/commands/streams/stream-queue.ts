import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const defaultMaxWaiting = 1_000;

/** Runs the tasks of one stream one after the other; tasks of different streams do not wait for each other. */
export class StreamQueue {
  /** For each stream with a running task, the callbacks that start the waiting tasks. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #maxWaiting: number;

  /** @param maxWaiting the most waiting tasks of one stream */
  constructor(maxWaiting = defaultMaxWaiting) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs a task after the earlier ones on the same stream.
   * @param deadline on `performance.now()`'s clock; a task that has not started by then is removed
   * @throws UnavailableError if the queue is full or the task did not start in time
   */
  async run<A>(stream: string, deadline: number, task: () => Promise<A>): Promise<A> {
    await this.#turn(stream, deadline);
    try {
      return await task();
    } finally {
      this.#next(stream);
    }
  }

  #turn(stream: string, deadline: number): Promise<void> | undefined {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) {
      this.#waiting.set(stream, new Set());
      return undefined;
    }
    if (waiting.size >= this.#maxWaiting) throw tooBusy(stream);
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        waiting.delete(begin);
        reject(tooBusy(stream));
      };
      const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()));
      waiting.add(begin);
    });
  }

  #next(stream: string): void {
    const waiting = this.#waiting.get(stream);
    const [begin] = waiting ?? [];
    if (begin === undefined) {
      this.#waiting.delete(stream);
      return;
    }
    waiting?.delete(begin);
    begin();
  }
}

const tooBusy = (stream: string) =>
  new UnavailableError(`the ${stream.slice(0, stream.indexOf('-'))} has too many waiting writes.`);
