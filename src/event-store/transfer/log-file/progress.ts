/**
 * Told how far it is.
 * @param events so far
 * @param fraction of the whole, from 0 to 1; null where the end is not known
 */
export type Report = (events: number, fraction: number | null) => void;

/** Where progress is shown: standard error, or a stand-in. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const terminalMilliseconds = 200;
const lineMilliseconds = 5_000;

/** Shows how far something is: on a terminal in one line that changes, else in a line every five seconds. */
export class Progress {
  readonly #verb: string;
  readonly #output: ProgressOutput;
  readonly #now: () => number;
  readonly #startedAt: number;
  #shownAt: number;
  #shown = false;

  /**
   * @param verb what becomes of events: "exported"
   * @param now milliseconds on any clock
   */
  constructor(verb: string, output: ProgressOutput, now: () => number = () => performance.now()) {
    this.#verb = verb;
    this.#output = output;
    this.#now = now;
    this.#startedAt = now();
    this.#shownAt = this.#startedAt;
  }

  readonly report: Report = (events, fraction) => {
    const now = this.#now();
    if (now - this.#shownAt < (this.#output.isTTY ? terminalMilliseconds : lineMilliseconds)) return;
    this.#shownAt = now;
    this.#shown = true;
    const line = this.#line(events, fraction, (now - this.#startedAt) / 1000);
    this.#output.write(this.#output.isTTY ? `\r\x1b[2K${line}` : `${line}\n`);
  };

  /** Makes room for what is written next. */
  end(): void {
    if (this.#shown && this.#output.isTTY) this.#output.write('\r\x1b[2K');
  }

  #line(events: number, fraction: number | null, seconds: number): string {
    const pace = `${numberOf(events / seconds)} events/s`;
    if (fraction === null || fraction <= 0) return `${this.#verb} ${numberOf(events)} events (${pace})`;
    const left = Math.ceil((seconds / fraction) * (1 - fraction));
    return `${this.#verb} ${numberOf(events)} events, ${Math.floor(100 * fraction)}% (${pace}, ${numberOf(left)} s left)`;
  }
}

function numberOf(value: number): string {
  return Math.round(value).toLocaleString('en');
}
