/**
 * Callers get places in the order of their calls. After the signal aborts, no caller waits any more, because all of
 * them are about to stop.
 */
export class Semaphore {
  #free: number;
  readonly #waiting: Array<() => void> = [];
  readonly #signal: AbortSignal;

  /** @param count maximum callers at the same time */
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

  release(): void {
    const enter = this.#waiting.shift();
    if (enter === undefined) this.#free += 1;
    else enter();
  }
}
