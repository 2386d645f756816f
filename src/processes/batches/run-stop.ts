import { setMaxListeners } from 'node:events';
import { delay } from '#shared/async/timed-waits.ts';
import type { EarlyOutcome } from './batch-outcome.ts';

/** The outcome of the batch, or a reason why this run leaves the batch unfinished. */
export type StopReason = EarlyOutcome | LeaveReason;

/** `term-lost`: this node may run the batch again. `taken-over`: another run of the batch has begun. */
type LeaveReason = 'node-stops' | 'term-lost' | 'taken-over';

/**
 * How long running calls may continue after a stop. The run of a lost term records their answers until another run takes
 * the batch. It ends well before it would be left.
 */
const graceMs: Readonly<Record<StopReason, number>> = {
  failed: 0,
  expired: 2_000,
  cancelled: 10_000,
  'node-stops': 2_000,
  'term-lost': 8_000,
  'taken-over': 0,
};

/** How long the answers that have come may be recorded after that. */
const recordMs: Readonly<Record<LeaveReason, number>> = { 'node-stops': 1_000, 'term-lost': 0, 'taken-over': 0 };

/** The ranks of reasons. A reason replaces those of a lower rank. */
const ranks: Readonly<Record<LeaveReason, number>> = { 'term-lost': 1, 'node-stops': 2, 'taken-over': 3 };

export class RunStop {
  readonly #asking = new AbortController();
  readonly #calling = new AbortController();
  readonly #recording = new AbortController();
  readonly #ended = new AbortController();
  #reason: StopReason | null = null;
  readonly #reasons = new Set<StopReason>();

  constructor() {
    // Every line that waits or runs listens to these signals.
    for (const signal of [this.asking, this.calling, this.recording, this.ended]) setMaxListeners(0, signal);
  }

  /** Aborts when no more lines are asked. */
  get asking(): AbortSignal {
    return this.#asking.signal;
  }

  /** Aborts when running calls must end. */
  get calling(): AbortSignal {
    return this.#calling.signal;
  }

  /** Aborts with a `TermOverError` when nothing more is recorded. */
  get recording(): AbortSignal {
    return this.#recording.signal;
  }

  /** Aborts when the run is over. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Why the run stops; null while lines are asked. */
  get reason(): StopReason | null {
    return this.#reason;
  }

  /** True if this run leaves the batch unfinished. */
  get leavesBatch(): boolean {
    return isToLeave(this.#reason);
  }

  /**
   * Stops asking lines. The first reason counts, except that one to leave the batch replaces an outcome. Every reason
   * ends the calls after its time: a revoked key makes none, even if the term was lost before.
   */
  stop(reason: StopReason): void {
    if (this.#reasons.has(reason) || this.recording.aborted) return;
    this.#reasons.add(reason);
    if (this.#reason === null || rankOf(reason) > rankOf(this.#reason)) this.#reason = reason;
    this.#asking.abort();
    void this.#endAfterGrace(reason);
  }

  readonly abortCalls = (): void => this.#calling.abort();

  /** Ends the run. No part of it continues, except calls until `abortCalls`. */
  end(): void {
    this.#ended.abort();
    this.#asking.abort();
    this.#recording.abort(new TermOverError('The run of the batch is over.'));
  }

  async #endAfterGrace(reason: StopReason): Promise<void> {
    await delay(graceMs[reason], this.ended);
    if (this.ended.aborted) return;
    // The next term of this node gets the answers of calls that still run.
    if (reason !== 'term-lost') this.#calling.abort();
    if (!isToLeave(reason)) return;
    await delay(recordMs[reason], this.ended);
    this.#recording.abort(new TermOverError(messages[reason]));
  }
}

function isToLeave(reason: StopReason | null): reason is LeaveReason {
  return reason !== null && reason in ranks;
}

function rankOf(reason: StopReason | null): number {
  return isToLeave(reason) ? ranks[reason] : 0;
}

const messages: Readonly<Record<LeaveReason, string>> = {
  'node-stops': 'This node stops.',
  'term-lost': 'The term of running batches is over on this node.',
  'taken-over': 'Another run of the batch has begun.',
};

/** The term of this node is over, or another run of the batch has begun. This run records nothing more. */
export class TermOverError extends Error {
  override readonly name = 'TermOverError';
}
