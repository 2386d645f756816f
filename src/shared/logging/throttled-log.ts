import { clock, type Timer } from '#shared/clock.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Maximum number of kinds. Further kinds share a line. */
const maxKinds = 200;
const sharedKind = '_OTHER';

interface RepeatedLine {
  fields: Fields;
  message: string;
  /** The number of lines that were left out since the last written one. */
  leftOut: number;
  readonly timer: Timer;
}

/**
 * Writes lines, at most one of each kind in an interval: the first immediately, and at the end of the interval the
 * latest one, with the number of left out lines as `repeated`. The number of kinds and lines is bounded.
 */
export class ThrottledLog {
  readonly #write: (fields: Fields, message: string) => void;
  readonly #intervalMs: number;
  readonly #lines = new Map<string, RepeatedLine>();

  /** @param write writes a line at the level of them all */
  constructor(write: (fields: Fields, message: string) => void, intervalMs: number) {
    this.#write = write;
    this.#intervalMs = intervalMs;
  }

  /** @param kind lines of one kind mean the same to a reader */
  write(kind: string, fields: Fields, message: string): void {
    const counted = this.#lines.has(kind) || this.#lines.size < maxKinds ? kind : sharedKind;
    const line = this.#lines.get(counted);
    if (line === undefined) this.#begin(counted, fields, message);
    else {
      line.fields = fields;
      line.message = message;
      line.leftOut += 1;
    }
  }

  /** Writes the lines that were left out so far. */
  close(): void {
    for (const line of this.#lines.values()) {
      clock.clearInterval(line.timer);
      this.#writeLeftOut(line);
    }
    this.#lines.clear();
  }

  #begin(kind: string, fields: Fields, message: string): void {
    this.#write(fields, message);
    const timer = clock.setInterval(() => this.#endInterval(kind), this.#intervalMs).unref();
    this.#lines.set(kind, { fields, message, leftOut: 0, timer });
  }

  #endInterval(kind: string): void {
    const line = this.#lines.get(kind);
    if (line === undefined) return;
    if (this.#writeLeftOut(line)) return;
    clock.clearInterval(line.timer);
    this.#lines.delete(kind);
  }

  #writeLeftOut(line: RepeatedLine): boolean {
    if (line.leftOut === 0) return false;
    this.#write({ ...line.fields, repeated: line.leftOut }, line.message);
    line.leftOut = 0;
    return true;
  }
}
