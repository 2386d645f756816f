import { clock, type Timer } from '#shared/clock.ts';
import type { FinishedLine } from './part-recorder.ts';

/** A line that was asked. It never rejects; null if the line must be asked again. */
export type AskedLine = Promise<FinishedLine | null>;

/** The lines that a run has asked and not recorded, because its term was lost. */
export interface LeftRun {
  /** The run's token. A batch that still has it was taken by no other run since. */
  readonly token: number;
  /** By number. */
  readonly lines: Map<number, AskedLine>;
  /** Ends the calls that still run. */
  readonly abort: () => void;
}

/** How long lines are kept for the next term. An outage of a store may last that long. */
const keptMs = 60_000;

/**
 * Keeps what runs of a lost term have asked: running calls, and answers that could not be recorded. The next run of the
 * batch on this node takes them over instead of asking the lines again.
 */
export class LeftLines {
  readonly #runs = new Map<string, { readonly run: LeftRun; readonly timer: Timer }>();

  leave(batchId: string, run: LeftRun): void {
    this.#drop(batchId);
    const timer = clock.setTimeout(() => this.#drop(batchId), keptMs).unref();
    this.#runs.set(batchId, { run, timer });
  }

  /** Removes what was left of a batch, and returns it. The caller drops what it does not use. */
  take(batchId: string): LeftRun | null {
    const left = this.#runs.get(batchId);
    this.#runs.delete(batchId);
    clock.clearTimeout(left?.timer);
    return left?.run ?? null;
  }

  #drop(batchId: string): void {
    dropLines(this.take(batchId));
  }
}

/** Ends the calls for lines that are not needed any more, and frees their answers. */
export function dropLines(run: LeftRun | null): void {
  if (run === null) return;
  run.abort();
  for (const line of run.lines.values()) void line.then((finished) => finished?.release());
  run.lines.clear();
}
