import { clock, type Timer } from '#shared/clock.ts';
import { runFor, serviceOwner } from './fair-queue.ts';
import { type GuardPort, SerialTurns } from './serial-turns.ts';

/** Time limit of a run: far longer than a store that answers needs for what has collected in some seconds. */
const maxRunMs = 30_000;

/**
 * Runs asynchronous work some time after a request: once for all requests in that time, and never twice at the same
 * time. It holds no items. A `Batcher` holds items, and its work is synchronous, so a caller can complete it
 * immediately. The work is the service's, because several projects may have requested it. A run that lasts 30 s is
 * left: its calls of the guarded ports fail, as in an outage, and the next run may begin.
 */
export class Debouncer {
  readonly #milliseconds: number;
  readonly #work: (guard: GuardPort) => Promise<void>;
  readonly #turns = new SerialTurns('The work', maxRunMs);
  #timer: Timer | null = null;
  #stopped = false;

  /** @param milliseconds from the first request to the run @param work never rejects; it calls its store through `guard` */
  constructor(milliseconds: number, work: (guard: GuardPort) => Promise<void>) {
    this.#milliseconds = milliseconds;
    this.#work = work;
  }

  /** Requests a run. Ignored after `stop`. The timer does not keep the process alive. */
  schedule(): void {
    if (!this.#stopped) this.#timer ??= clock.setTimeout(() => void this.flush(), this.#milliseconds).unref();
  }

  /** Runs the work as soon as the current run has ended. Never rejects. @returns when the work is done, or left */
  async flush(): Promise<void> {
    if (this.#timer !== null) clock.clearTimeout(this.#timer);
    this.#timer = null;
    await this.#turns.run((guard) => runFor(serviceOwner, () => this.#work(guard))).catch(() => undefined);
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clock.clearTimeout(this.#timer);
  }
}
