import { clock, type Timer } from '#shared/clock.ts';
import type { FinishedLine } from './part-recorder.ts';

/** A line that was asked. */
export interface AskedLine {
  /** Null, or a rejection, if the line must be asked again. */
  readonly finished: Promise<FinishedLine | null>;
  /** Ends the calls of the run that has asked it. */
  readonly abort: () => void;
}

/** The lines that a run has asked and not recorded, because its term was lost. */
export interface LeftRun {
  /** The run's token. A batch that still has it was taken by no other run since. */
  readonly token: number;
  /** By number. */
  readonly lines: Map<number, AskedLine>;
  /** On the node's clock. */
  readonly keptUntil: number;
}

/** How long lines are kept for the next term. An outage of a store may last that long. */
export const keptMs = 60_000;

/**
 * Keeps what runs of a lost term have asked: running calls, and answers that could not be recorded. The next run of the
 * batch on this node takes them over instead of asking the lines again.
 */
export class LeftLines {
  readonly #runs = new Map<string, { readonly run: LeftRun; readonly timer: Timer }>();

  leave(batchId: string, run: LeftRun): void {
    this.#drop(batchId);
    const timer = clock.setTimeout(() => this.#drop(batchId), Math.max(0, run.keptUntil - clock.now())).unref();
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
    const run = this.take(batchId);
    if (run !== null) dropLines(run.lines);
  }
}

/** Ends the calls for lines that are not needed any more, and frees their answers. */
export function dropLines(lines: Map<number, AskedLine>): void {
  for (const line of lines.values()) dropLine(line);
  lines.clear();
}

export function dropLine({ finished, abort }: AskedLine): void {
  abort();
  finished.then((line) => line?.release(), ignore);
}

function ignore(): void {}
