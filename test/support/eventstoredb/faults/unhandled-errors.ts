/** Errors that nobody handles, while a test runs: each would end the process of a service. */
export class UnhandledErrors {
  readonly seen: unknown[] = [];
  readonly #rejections = process.listeners('unhandledRejection');
  readonly #exceptions = process.listeners('uncaughtException');
  readonly #note = (error: unknown) => void this.seen.push(error);

  /** Takes them from the test runner. */
  constructor() {
    process.removeAllListeners('unhandledRejection').removeAllListeners('uncaughtException');
    process.on('unhandledRejection', this.#note).on('uncaughtException', this.#note);
  }

  /** Gives them back. */
  end(): void {
    process.off('unhandledRejection', this.#note).off('uncaughtException', this.#note);
    for (const listener of this.#rejections) process.on('unhandledRejection', listener);
    for (const listener of this.#exceptions) process.on('uncaughtException', listener);
  }
}
