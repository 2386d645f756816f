import { Semaphore } from '#shared/async/semaphore.ts';
import { abortable } from '#shared/async/timed-waits.ts';
import type { AskedLine, LeftRun } from './left-lines.ts';
import type { LineAsker, NextLine } from './line-asker.ts';
import type { FinishedLine, PartRecorder } from './part-recorder.ts';
import type { NumberedLine } from './read-lines.ts';
import type { RunStop } from './run-stop.ts';

export interface AskLinesOptions {
  readonly asker: LineAsker;
  readonly recorder: PartRecorder;
  readonly stop: RunStop;
  /** Lines that were refused for now are unfinished too. Each is in memory. */
  readonly maxUnfinished: number;
  /** The lines that an earlier run on this node has asked. */
  readonly left: LeftRun | null;
  /** Waits while the project has no room for more answers. */
  readonly waitForSpace: () => Promise<void>;
}

/** Asks the lines of a batch, many at a time, and records them as they finish. */
export class AskLines {
  readonly #options: AskLinesOptions;
  /** By number. */
  readonly #running = new Map<number, AskedLine>();
  #hasLeft = false;

  constructor(options: AskLinesOptions) {
    this.#options = options;
  }

  /** Asks all unfinished lines. Resolves when those that were asked are recorded. @throws UnavailableError; TermOverError */
  async run(lines: AsyncGenerator<NumberedLine>): Promise<void> {
    const { asker, recorder, stop, maxUnfinished, waitForSpace } = this.#options;
    const unfinished = new Semaphore(maxUnfinished, stop.asking);
    try {
      for (;;) {
        await recorder.ready();
        await unfinished.acquire();
        await waitForSpace();
        const next = await asker.next(lines);
        if (next === null) break;
        void this.#ask(next)
          .catch(ignore)
          .finally(() => unfinished.release());
      }
    } finally {
      await lines.return(undefined);
      // Finished lines are recorded even if the rest of the input cannot be read. A failure to ask one is thrown here.
      await Promise.all(this.#running.values());
      await recorder.finish();
    }
  }

  /** Gives up the lines that are not recorded: nothing more of them is recorded here. */
  leave(): Map<number, AskedLine> {
    this.#hasLeft = true;
    const left = new Map([...(this.#options.left?.lines ?? []), ...this.#running]);
    for (const line of this.#options.recorder.takeUnrecorded()) left.set(line.number, Promise.resolve(line));
    return left;
  }

  async #ask(next: NextLine): Promise<void> {
    const { number } = next.line;
    const asked = this.#takeOver(next) ?? this.#options.asker.ask(next);
    this.#running.set(number, asked);
    const finished = await asked;
    // The run that has taken it over records it.
    if (this.#hasLeft) return;
    this.#running.delete(number);
    if (finished !== null) this.#options.recorder.add(finished);
  }

  /** @returns null if no earlier run on this node has asked the line */
  #takeOver(next: NextLine): AskedLine | null {
    const { lines } = this.#options.left ?? {};
    const asked = lines?.get(next.line.number);
    lines?.delete(next.line.number);
    return asked === undefined ? null : this.#finishedBy(asked, next);
  }

  /** Waits for the answer to an earlier run. Without one it asks the line. */
  async #finishedBy(asked: AskedLine, next: NextLine): Promise<FinishedLine | null> {
    const { asker, stop } = this.#options;
    const giveBack = () => {
      next.line.release();
      next.slot.release();
    };
    stop.recording.addEventListener('abort', next.slot.release, { once: true });
    try {
      const finished = await abortable(stop.calling, () => asked);
      if (finished === null) return await asker.ask(next);
      giveBack();
      return finished;
    } catch {
      // The calls of this run have ended, so nobody waits for the answer any more.
      void asked.then((late) => late?.release());
      giveBack();
      return null;
    } finally {
      stop.recording.removeEventListener('abort', next.slot.release);
    }
  }
}

function ignore(): void {}
