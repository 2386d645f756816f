import type { Logger } from './logger.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Kinds that are counted apart: what is one too many shares a line with the others. */
const maxKinds = 200;
const sharedKind = '_OTHER';

interface RepeatedLine {
  fields: Fields;
  message: string;
  /** How many lines were left out since the last one that was written. */
  leftOut: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Writes `warn` lines, of each kind one in an interval at most: the first at once, and at the end of the interval the
 * latest with `repeated`, how many lines it is written for. Bounded in kinds and in lines.
 */
export class ThrottledLog {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #intervalMs: number;
  readonly #lines = new Map<string, RepeatedLine>();

  constructor(log: Pick<Logger, 'warn'>, intervalMs: number) {
    this.#log = log;
    this.#intervalMs = intervalMs;
  }

  /** @param kind lines of one kind are worth the same to whoever reads them */
  warn(kind: string, fields: Fields, message: string): void {
    const counted = this.#lines.has(kind) || this.#lines.size < maxKinds ? kind : sharedKind;
    const line = this.#lines.get(counted);
    if (line === undefined) this.#begin(counted, fields, message);
    else {
      line.fields = fields;
      line.message = message;
      line.leftOut += 1;
    }
  }

  /** Writes what was left out so far, and no more at the end of intervals. */
  close(): void {
    for (const line of this.#lines.values()) {
      clearInterval(line.timer);
      this.#writeLeftOut(line);
    }
    this.#lines.clear();
  }

  #begin(kind: string, fields: Fields, message: string): void {
    this.#log.warn(fields, message);
    const timer = setInterval(() => this.#endInterval(kind), this.#intervalMs).unref();
    this.#lines.set(kind, { fields, message, leftOut: 0, timer });
  }

  #endInterval(kind: string): void {
    const line = this.#lines.get(kind);
    if (line === undefined) return;
    if (this.#writeLeftOut(line)) return;
    clearInterval(line.timer);
    this.#lines.delete(kind);
  }

  #writeLeftOut(line: RepeatedLine): boolean {
    if (line.leftOut === 0) return false;
    this.#log.warn({ ...line.fields, repeated: line.leftOut }, line.message);
    line.leftOut = 0;
    return true;
  }
}
