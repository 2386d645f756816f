/**
 * @param done finished events, or other items
 * @param fraction of the whole, from 0 to 1; null if the total is unknown
 */
export type Report = (done: number, fraction: number | null) => void;

/** Standard error, or a substitute in a test. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const terminalIntervalMs = 200;
const lineIntervalMs = 5_000;

/** Shows the progress on a terminal in one changing line, otherwise in a line every five seconds. */
export class Progress {
  readonly #verb: string;
  readonly #things: string;
  readonly #output: ProgressOutput;
  readonly #now: () => number;
  readonly #startedAt: number;
  #shownAt: number;
  #shown = false;

  /**
   * @param verb the participle of the work, such as "exported"
   * @param options `things`: the name of the items, by default events; `now`: milliseconds on any clock
   */
  constructor(
    verb: string,
    output: ProgressOutput,
    { things = 'events', now = () => performance.now() }: { things?: string; now?: () => number } = {},
  ) {
    this.#verb = verb;
    this.#things = things;
    this.#output = output;
    this.#now = now;
    this.#startedAt = now();
    this.#shownAt = this.#startedAt;
  }

  readonly report: Report = (done, fraction) => {
    const now = this.#now();
    if (now - this.#shownAt < (this.#output.isTTY ? terminalIntervalMs : lineIntervalMs)) return;
    this.#shownAt = now;
    this.#shown = true;
    const line = this.#line(done, fraction, (now - this.#startedAt) / 1000);
    this.#output.write(this.#output.isTTY ? `\r\x1b[2K${line}` : `${line}\n`);
  };

  /** Ends the line, so that other text can follow. */
  end(): void {
    if (this.#shown && this.#output.isTTY) this.#output.write('\r\x1b[2K');
  }

  #line(done: number, fraction: number | null, seconds: number): string {
    const pace = `${numberOf(done / seconds)} ${this.#things}/s`;
    const count = `${this.#verb} ${numberOf(done)} ${this.#things}`;
    if (fraction === null || fraction <= 0) return `${count} (${pace})`;
    const left = Math.ceil((seconds / fraction) * (1 - fraction));
    return `${count}, ${Math.floor(100 * fraction)}% (${pace}, ${numberOf(left)} s left)`;
  }
}

function numberOf(value: number): string {
  return Math.round(value).toLocaleString('en');
}
