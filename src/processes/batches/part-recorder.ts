import { rangesOf } from '#domain/batch/line-set.ts';
import { clock } from '#shared/clock.ts';

export interface PartToRecord {
  readonly part: number;
  readonly lines: string;
  readonly completed: number;
  readonly failed: number;
  readonly output: Buffer;
  readonly errors: Buffer;
}

export interface PartRecorderOptions {
  readonly firstPart: number;
  /** Records a part with any number of retries. @throws TermOverError */
  readonly record: (part: PartToRecord) => Promise<void>;
  /** Called once, when a part can never be recorded. */
  readonly onFailure: () => void;
}

/** A part of this size is recorded immediately. */
const fullPartBytes = 4 * 1024 * 1024;
/** Maximum bytes and lines that wait to be recorded. Beyond one limit no further line is called. */
const maxWaitingBytes = 16 * 1024 * 1024;
const maxWaitingLines = 5_000;
/** The time from the end of a line until its part is recorded. */
const gatherMs = 200;

/** Records lines several times a second, in the order in which they were finished. */
export class PartRecorder {
  readonly #options: PartRecorderOptions;
  #part: number;
  #waiting: FinishedLine[] = [];
  #inPart: ReadonlyArray<FinishedLine> = [];
  #waitingBytes = 0;
  #recording: Promise<void> | null = null;
  #gathered: () => void = ignore;
  #onRoom: () => void = ignore;
  #failure: { readonly error: unknown } | null = null;
  #isOver = false;

  constructor(options: PartRecorderOptions) {
    this.#options = options;
    this.#part = options.firstPart;
  }

  add(line: FinishedLine): void {
    if (this.#isOver) {
      line.release();
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.text.length;
    if (this.#failure !== null) return;
    this.#recording ??= this.#recordAll();
    if (this.#waitingBytes >= fullPartBytes) this.#gathered();
  }

  async ready(): Promise<void> {
    while (this.#failure === null && this.#isFull()) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
  }

  /** @throws what `record` throws */
  async finish(): Promise<void> {
    this.#gathered();
    await this.#recording;
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Ends the recording. @returns the lines that are not recorded, or of which that is unknown */
  takeUnrecorded(): ReadonlyArray<FinishedLine> {
    this.#isOver = true;
    const unrecorded = [...this.#inPart, ...this.#waiting];
    this.#inPart = [];
    this.#waiting = [];
    return unrecorded;
  }

  #isFull(): boolean {
    return this.#waitingBytes >= maxWaitingBytes || this.#waiting.length >= maxWaitingLines;
  }

  async #recordAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await this.#gather();
        await this.#recordNext();
      }
    } catch (error) {
      this.#failure = { error };
      this.#options.onFailure();
    } finally {
      this.#recording = null;
      this.#onRoom();
    }
  }

  #gather(): Promise<void> {
    if (this.#waitingBytes >= fullPartBytes) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = clock.setTimeout(resolve, gatherMs);
      this.#gathered = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  async #recordNext(): Promise<void> {
    const lines = this.#waiting;
    const bytes = this.#waitingBytes;
    this.#inPart = lines;
    this.#waiting = [];
    const errors = lines.filter(({ isError }) => isError);
    const outputs = lines.filter(({ isError }) => !isError);
    const part = {
      part: this.#part,
      lines: rangesOf(lines.map(({ number }) => number)),
      completed: outputs.length,
      failed: errors.length,
      output: Buffer.concat(outputs.map(({ text }) => text)),
      errors: Buffer.concat(errors.map(({ text }) => text)),
    };
    await this.#options.record(part);
    for (const { release } of this.#inPart) release();
    this.#inPart = [];
    this.#part += 1;
    // Lines that are being recorded take memory too.
    this.#waitingBytes -= bytes;
    this.#onRoom();
  }
}

function ignore(): void {}

/** A line as the output or the error file contains it. */
export interface FinishedLine {
  readonly number: number;
  readonly isError: boolean;
  readonly text: Buffer;
  /** Ends the counting of its bytes. Called when it is recorded, or never will be. */
  readonly release: () => void;
}
