import { clock, type Timer } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { earlyOutcomeOf } from './batch-outcome.ts';
import { BatchStore, type BatchStoreOptions } from './batch-store.ts';
import type { FinishedLine } from './part-recorder.ts';

export interface AskedLine {
  /** The finished line; null, or a rejection, if it must be asked again. */
  readonly finished: Promise<FinishedLine | null>;
  /** Ends the calls of the run that has asked the line. */
  readonly abort: () => void;
}

/** Lines that a run has asked and not recorded, because its term was lost. */
export interface LeftRun {
  /** The token of the run. A batch that still has it was taken by no other run since. */
  readonly token: number;
  /** The lines by number. */
  readonly lines: Map<number, AskedLine>;
  /** The time until which they are kept, on the node's clock. */
  readonly keptUntil: number;
}

/** How long lines are kept for the next term. An outage of a store may last that long. */
export const leftLinesKeptMs = 60_000;

/** Time between two checks of the calls that may still run. A run reads as often. */
const checkMs = 2_000;

interface KeptRun {
  readonly run: LeftRun;
  readonly deadline: Timer;
  check: Timer | null;
}

/**
 * Keeps what runs of a lost term have asked: running calls, and answers that could not be recorded. The next run of the
 * batch on this node takes them over instead of asking the lines again. Calls end here for the same reasons as in a run.
 */
export class LeftLines {
  readonly #stores: BatchStoreOptions;
  readonly #runs = new Map<string, KeptRun>();

  constructor(stores: BatchStoreOptions) {
    this.#stores = stores;
  }

  leave(batchId: string, run: LeftRun): void {
    this.#drop(batchId);
    const deadline = clock.setTimeout(() => this.#drop(batchId), Math.max(0, run.keptUntil - clock.now())).unref();
    this.#runs.set(batchId, { run, deadline, check: null });
    // Not only later: a run that cannot begin takes the lines again and again.
    void this.#check(batchId, run);
  }

  /** Removes what was left of the batch. The caller drops what it does not use. */
  take(batchId: string): LeftRun | null {
    const kept = this.#runs.get(batchId);
    this.#runs.delete(batchId);
    clock.clearTimeout(kept?.deadline);
    clock.clearTimeout(kept?.check);
    return kept?.run ?? null;
  }

  close(): void {
    for (const batchId of [...this.#runs.keys()]) this.#drop(batchId);
  }

  #drop(batchId: string): void {
    const run = this.take(batchId);
    if (run !== null) dropLines(run.lines);
  }

  /** Ends the calls when nobody wants their answers any more. The answers that have come stay for the next run. */
  async #check(batchId: string, run: LeftRun): Promise<void> {
    const areWanted = await this.#areCallsWanted(batchId);
    const kept = this.#runs.get(batchId);
    if (kept?.run !== run) return;
    if (areWanted) kept.check = clock.setTimeout(() => void this.#check(batchId, run), checkMs).unref();
    else for (const { abort } of run.lines.values()) abort();
  }

  async #areCallsWanted(batchId: string): Promise<boolean> {
    const store = new BatchStore(this.#stores, batchId, new AbortController().signal);
    try {
      const state = await store.load();
      const caller = await store.holder(state.keyId);
      return state.outcome === null && earlyOutcomeOf(state, caller, this.#stores.now()) === null;
    } catch (error) {
      // While the store is down, nobody knows of a reason.
      return error instanceof UnavailableError;
    }
  }
}

/** Drops lines that are not needed any more, and frees their answers. */
export function dropLines(lines: Map<number, AskedLine>): void {
  for (const line of lines.values()) dropLine(line);
  lines.clear();
}

export function dropLine({ finished, abort }: AskedLine): void {
  abort();
  finished.then((line) => line?.release(), ignore);
}

function ignore(): void {}
