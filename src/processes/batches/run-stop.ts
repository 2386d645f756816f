import { setMaxListeners } from 'node:events';
import type { BatchEvents } from '#domain/batch/events.ts';
import { delay } from '#shared/async/delay.ts';

/** Why no more lines are asked: what the batch comes to, or that this node leaves it as it is. */
export type StopReason = Exclude<BatchEvents['BatchEnded']['outcome'], 'completed'> | 'node-stops' | 'term-over';

/** How long calls that run may still take when no more lines are asked. */
const graceMs: Readonly<Record<StopReason, number>> = {
  failed: 0,
  expired: 2_000,
  cancelled: 10_000,
  'node-stops': 2_000,
  'term-over': 0,
};

/** Whether a run asks lines, and why it does so no more. */
export class RunStop {
  readonly #asking = new AbortController();
  readonly #calling = new AbortController();
  readonly #ended = new AbortController();
  #reason: StopReason | null = null;

  constructor() {
    // Every line that waits or is asked listens.
    for (const signal of [this.asking, this.calling]) setMaxListeners(0, signal);
  }

  /** Aborts when no more lines are asked. */
  get asking(): AbortSignal {
    return this.#asking.signal;
  }

  /** Aborts when calls that run are ended. */
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

  /** Asks no more lines. The first reason holds, but that the term is over counts more than any other. */
  stop(reason: StopReason): void {
    if (this.#reason === 'term-over' || (this.#reason !== null && reason !== 'term-over')) return;
    this.#reason = reason;
    this.#asking.abort();
    void delay(graceMs[reason], this.ended).then(() => this.#calling.abort());
  }

  /** The run is over: nothing of it continues. */
  end(): void {
    this.#ended.abort();
    this.#asking.abort();
    this.#calling.abort();
  }
}
