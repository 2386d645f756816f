/**
 * Runs asynchronous work a while after it is asked for: once for everyone who asks meanwhile, and never two runs at the
 * same time. It holds no items; a `Batcher` does, and its work is synchronous, so that a caller can have it done at once.
 */
export class Debouncer {
  readonly #milliseconds: number;
  readonly #work: () => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  /** @param milliseconds from the first who asks; @param work never rejects */
  constructor(milliseconds: number, work: () => Promise<void>) {
    this.#milliseconds = milliseconds;
    this.#work = work;
  }

  /** Asks for a run, unless the debouncer is stopped. The timer does not keep the process alive. */
  schedule(): void {
    if (!this.#stopped) this.#timer ??= setTimeout(() => void this.flush(), this.#milliseconds).unref();
  }

  /** Runs the work as soon as the current run has ended. @returns when it is done */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#running = this.#running.then(this.#work);
    return this.#running;
  }

  /** From now on only `flush` runs the work. */
  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
