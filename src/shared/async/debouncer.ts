/** A work that is done a while after it was asked for: once for all who ask meanwhile, and one after the other. */
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

  /** Asks for it, unless it was stopped. It does not keep the process alive. */
  schedule(): void {
    if (!this.#stopped) this.#timer ??= setTimeout(() => void this.flush(), this.#milliseconds).unref();
  }

  /** Does it as soon as what runs has ended. @returns when it is done */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#running = this.#running.then(this.#work);
    return this.#running;
  }

  /** From now on it is done by `now` alone. */
  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
