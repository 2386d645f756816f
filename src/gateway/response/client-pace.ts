import type { AttemptControl } from '#gateway/attempt/body-consumer.ts';

/** Reads the provider no faster than the client reads the answer. */
export class ClientPace implements Pick<AttemptControl, 'pause' | 'resume'> {
  readonly #attempt: AttemptControl;
  #isBehind = false;
  #whenDrained: (() => void) | null = null;

  constructor(attempt: AttemptControl) {
    this.#attempt = attempt;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  readonly pause = (): void => {
    this.#isBehind = true;
    this.#attempt.pause();
  };

  readonly resume = (): void => {
    this.#isBehind = false;
    this.#attempt.resume();
    this.#whenDrained?.();
    this.#whenDrained = null;
  };

  /** Resolves when the client has received what was written. */
  async drained(): Promise<void> {
    if (this.#isBehind) await new Promise<void>((resolve) => (this.#whenDrained = resolve));
  }
}
