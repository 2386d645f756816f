/**
 * Lets a limited number of callers work at once, in the order in which they ask. After the signal aborts it lets every
 * caller in at once, because all of them are about to stop.
 */
export class Semaphore {
  #free: number;
  readonly #waiting: Array<() => void> = [];
  readonly #signal: AbortSignal;

  /** @param count callers at once */
  constructor(count: number, signal: AbortSignal) {
    this.#free = count;
    this.#signal = signal;
    signal.addEventListener('abort', () => {
      for (const enter of this.#waiting.splice(0)) enter();
    });
  }

  /** Waits for a place. Never rejects. Every call needs one `release`. */
  async acquire(): Promise<void> {
    if (this.#signal.aborted) return;
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((enter) => this.#waiting.push(enter));
  }

  /** Gives the place to the caller that has waited longest. */
  release(): void {
    const enter = this.#waiting.shift();
    if (enter === undefined) this.#free += 1;
    else enter();
  }
}
