import { clock, type Timer } from '#shared/clock.ts';
import { runFor, serviceOwner } from './fair-queue.ts';

/**
 * Runs asynchronous work some time after a request: once for all requests in that time, and never twice at the same
 * time. It holds no items. A `Batcher` holds items, and its work is synchronous, so that a caller can complete it at
 * once. The work is the service's, because several projects may have requested it.
 */
export class Debouncer {
  readonly #milliseconds: number;
  readonly #work: () => Promise<void>;
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  /** @param milliseconds from the first request to the run @param work never rejects */
  constructor(milliseconds: number, work: () => Promise<void>) {
    this.#milliseconds = milliseconds;
    this.#work = work;
  }

  /** Requests a run, unless the debouncer is stopped. The timer does not keep the process alive. */
  schedule(): void {
    if (!this.#stopped) this.#timer ??= clock.setTimeout(() => void this.flush(), this.#milliseconds).unref();
  }

  /** Runs the work as soon as the current run has ended. @returns when the work is done */
  flush(): Promise<void> {
    if (this.#timer !== null) clock.clearTimeout(this.#timer);
    this.#timer = null;
    this.#running = this.#running.then(() => runFor(serviceOwner, this.#work));
    return this.#running;
  }

  /** From now on only `flush` runs the work. */
  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clock.clearTimeout(this.#timer);
  }
}
