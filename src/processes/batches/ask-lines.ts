import { hasLine, type LineSet } from '#domain/batch/line-set.ts';
import { Semaphore } from '#shared/async/semaphore.ts';
import { type AskedLine, dropLine } from './left-lines.ts';
import type { LineAsker } from './line-asker.ts';
import type { PartRecorder } from './part-recorder.ts';
import type { NumberedLine } from './read-lines.ts';
import type { RunStop } from './run-stop.ts';

export interface AskLinesOptions {
  readonly asker: LineAsker;
  readonly recorder: PartRecorder;
  readonly stop: RunStop;
  /** Maximum number of unfinished lines. Lines that were refused for now count too. Each is in memory. */
  readonly maxUnfinished: number;
  readonly done: LineSet;
  /** Lines that earlier runs on this node have asked. They are taken from the map. */
  readonly left: Map<number, AskedLine>;
  /** Waits while the project has no room for more answers. */
  readonly waitForSpace: () => Promise<void>;
}

/** Asks many lines at a time, and records them as they finish. */
export class AskLines {
  readonly #options: AskLinesOptions;
  /** The running lines by number. */
  readonly #running = new Map<number, AskedLine>();
  #hasLeft = false;

  constructor(options: AskLinesOptions) {
    this.#options = options;
  }

  /**
   * Asks all unfinished lines. Resolves when those that were asked are recorded.
   * @param read reads the input from its beginning
   * @throws UnavailableError; TermOverError
   */
  async run(read: () => AsyncGenerator<NumberedLine>): Promise<void> {
    const { recorder, done } = this.#options;
    const { numbers, unanswered } = this.#takeOver();
    try {
      await this.#askAll(read(), (number) => !numbers.has(number) && !hasLine(done, number));
      const again = await unanswered;
      if (again.size > 0) await this.#askAll(read(), (number) => again.has(number));
    } finally {
      // Finished lines are recorded even if the rest of the input cannot be read. A failure to ask one is thrown here.
      await Promise.all([...this.#running.values()].map(({ finished }) => finished));
      await recorder.finish();
    }
  }

  /** Gives up the lines that are not recorded: nothing more of them is recorded here. */
  leave(): Map<number, AskedLine> {
    this.#hasLeft = true;
    const left = new Map(this.#running);
    for (const line of this.#options.recorder.takeUnrecorded())
      left.set(line.number, { finished: Promise.resolve(line), abort: ignore });
    return left;
  }

  /**
   * Records the lines of earlier runs as they finish. They have their slots and their room already, so they wait for
   * neither: they may hold all of it.
   * @returns their numbers, and when all have ended, the numbers of those that must be asked again
   */
  #takeOver(): { readonly numbers: ReadonlySet<number>; readonly unanswered: Promise<ReadonlySet<number>> } {
    const { left, done, stop } = this.#options;
    const taken = [...left].filter(([number]) => !hasLine(done, number));
    for (const [number, line] of left) if (hasLine(done, number)) dropLine(line);
    left.clear();
    const again = new Set<number>();
    const ending = taken.map(async ([number, line]) => {
      stop.calling.addEventListener('abort', line.abort, { once: true, signal: stop.ended });
      if (stop.calling.aborted) line.abort();
      const isAnswered = await this.#record(number, line).catch(() => false);
      if (isAnswered || this.#hasLeft) return;
      this.#running.delete(number);
      again.add(number);
    });
    return { numbers: new Set(taken.map(([number]) => number)), unanswered: Promise.all(ending).then(() => again) };
  }

  async #askAll(lines: AsyncGenerator<NumberedLine>, isOpen: (number: number) => boolean): Promise<void> {
    const { asker, recorder, stop, maxUnfinished, waitForSpace } = this.#options;
    const unfinished = new Semaphore(maxUnfinished, stop.asking);
    try {
      for (;;) {
        await recorder.ready();
        await unfinished.acquire();
        await waitForSpace();
        const next = await asker.next(lines, isOpen);
        if (next === null) break;
        const asked = { finished: asker.ask(next), abort: stop.abortCalls };
        void this.#record(next.line.number, asked)
          .catch(ignore)
          .finally(() => unfinished.release());
      }
    } finally {
      await lines.return(undefined);
    }
  }

  /** @returns false if the line has no answer */
  async #record(number: number, asked: AskedLine): Promise<boolean> {
    this.#running.set(number, asked);
    const finished = await asked.finished;
    // The run that has taken it over records it.
    if (this.#hasLeft) return true;
    this.#running.delete(number);
    if (finished !== null) this.#options.recorder.add(finished);
    return finished !== null;
  }
}

function ignore(): void {}
