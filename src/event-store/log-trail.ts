import type { LogMark, ReadOfLog } from '#domain/shared/log-mark.ts';
import { isChained } from './hash-chain.ts';
import type { LogPage } from './log-pages.ts';

/** Maximum number of marks before they are thinned. */
const maxUnthinned = 128;
/** The newest marks are all kept: a server that loses its tail mostly loses few events. */
const denseMarks = 16;

/**
 * Marks of what was read of a log: near the end close together, and further back always sparser. If the log changes, the
 * newest mark that it still has is about where the two logs part. A metering event is not a mark, because it may expire.
 */
export class LogTrail {
  /** The marks in the order of positions. */
  #marks: LogMark[] = [];
  #readTo = 0;

  get newest(): LogMark | null {
    return this.#marks.at(-1) ?? null;
  }

  /** What was read, with some seventy marks at most. */
  get read(): ReadOfLog {
    this.#marks = thinned(this.#marks);
    return { marks: [...this.#marks], readTo: this.#readTo };
  }

  /** Adds the marks of a page. @param isWhole the page has the events of all types */
  addPage({ after, position, events }: LogPage, isWhole: boolean): void {
    const isNext = after <= this.#readTo;
    const marks = events.filter(({ stream }) => isChained(stream));
    this.add({ marks, readTo: isWhole && isNext ? position : 0 });
  }

  /** Adds what was read earlier of the same log. */
  add({ marks, readTo }: ReadOfLog): void {
    for (const { position, id } of marks) {
      const place = this.#marks.findLastIndex((mark) => mark.position <= position);
      if (this.#marks[place]?.position !== position) this.#marks.splice(place + 1, 0, { position, id });
    }
    if (this.#marks.length > maxUnthinned) this.#marks = thinned(this.#marks);
    this.#readTo = Math.max(this.#readTo, readTo, this.newest?.position ?? 0);
  }
}

/** Keeps the newest marks, and the oldest of those whose distances lie between the same two powers of two. */
function thinned(marks: ReadonlyArray<LogMark>): LogMark[] {
  const newest = marks.at(-1);
  if (newest === undefined) return [];
  const kept = new Map<number, LogMark>();
  const dense = marks.slice(-denseMarks);
  for (const mark of marks.slice(0, -denseMarks)) {
    const magnitude = Math.floor(Math.log2(newest.position - mark.position + 1));
    if (!kept.has(magnitude)) kept.set(magnitude, mark);
  }
  return [...kept.values(), ...dense];
}
