/** Collects unhandled errors during a test. Each of them would end the process of a service. */
export class UnhandledErrors {
  readonly seen: unknown[] = [];
  readonly #rejections = process.listeners('unhandledRejection');
  readonly #exceptions = process.listeners('uncaughtException');
  readonly #note = (error: unknown) => void this.seen.push(error);

  /** Replaces the handlers of the test runner. */
  constructor() {
    process.removeAllListeners('unhandledRejection').removeAllListeners('uncaughtException');
    process.on('unhandledRejection', this.#note).on('uncaughtException', this.#note);
  }

  /** Restores the handlers of the test runner. */
  end(): void {
    process.off('unhandledRejection', this.#note).off('uncaughtException', this.#note);
    for (const listener of this.#rejections) process.on('unhandledRejection', listener);
    for (const listener of this.#exceptions) process.on('uncaughtException', listener);
  }
}
