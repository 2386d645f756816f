/** What was waited for did not come in time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
  /** The gRPC status of a deadline exceeded, which it is treated as. */
  readonly code = 4;
}

/**
 * Waits for a promise, for so long at most. The promise goes on; what it comes to later is nobody's.
 * @throws TimedOut
 */
export function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new TimedOut(`No answer within ${milliseconds} ms`)), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(limit));
  });
}

/** The waits between tries, in milliseconds: twice as long each time, up to a limit, spread so that many do not come at once. */
export class BackOff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #nextMs: number;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#nextMs = firstMs;
  }

  next(): number {
    const wait = this.#nextMs;
    this.#nextMs = Math.min(2 * wait, this.#longestMs);
    return wait * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}
