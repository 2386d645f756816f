import { setMaxListeners } from 'node:events';
import type { BatchEvents } from '#domain/batch/events.ts';
import { delay } from '#shared/async/timed-waits.ts';

/** Why no more lines are asked: the outcome of the batch, or a reason why this node leaves the batch unfinished. */
export type StopReason = Exclude<BatchEvents['BatchEnded']['outcome'], 'completed'> | 'node-stops' | 'term-over';

/** How long running calls may continue after a stop. */
const graceMs: Readonly<Record<StopReason, number>> = {
  failed: 0,
  expired: 2_000,
  cancelled: 10_000,
  'node-stops': 2_000,
  'term-over': 0,
};

/** Whether a run still calls models for lines, and why it has stopped. */
export class StopSignal {
  readonly #asking = new AbortController();
  readonly #calling = new AbortController();
  readonly #ended = new AbortController();
  #reason: StopReason | null = null;

  constructor() {
    // Every line that waits or runs listens to these signals.
    for (const signal of [this.asking, this.calling]) setMaxListeners(0, signal);
  }

  /** Aborts when no more lines are asked. */
  get asking(): AbortSignal {
    return this.#asking.signal;
  }

  /** Aborts when running calls must end. */
  get calling(): AbortSignal {
    return this.#calling.signal;
  }

  /** Aborts when the run is over. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Null while lines are asked. */
  get reason(): StopReason | null {
    return this.#reason;
  }

  /** Stops asking lines. The first reason counts, except that `term-over` replaces any other. */
  stop(reason: StopReason): void {
    if (this.#reason === 'term-over' || (this.#reason !== null && reason !== 'term-over')) return;
    this.#reason = reason;
    this.#asking.abort();
    void delay(graceMs[reason], this.ended).then(() => this.#calling.abort());
  }

  /** Ends the run: no part of it continues. */
  end(): void {
    this.#ended.abort();
    this.#asking.abort();
    this.#calling.abort();
  }
}

/** The term of this node has lapsed, or another run of the batch has begun. This run records nothing more. */
export class TermOverError extends Error {
  override readonly name = 'TermOverError';
}
