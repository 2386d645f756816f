import type { LazyEvent } from '#event-store/lazy-event.ts';

/** A run of the log, read at once: our events after a position, up to another. */
export interface LogPage {
  /** The position after which it begins. */
  readonly after: number;
  /** The position up to which it holds the log; `after` where nothing was stored. */
  readonly position: number;
  readonly events: ReadonlyArray<LazyEvent>;
  /** The length of the events' texts. */
  readonly characters: number;
  /** No further event of ours was stored when it was read. */
  readonly isEnd: boolean;
  /** When it was begun to be read, on the clock of `threadsTime`. */
  readonly begunAt: number;
}

/** Nanoseconds on a clock that all threads of a process share, and that never goes back. */
export function threadsTime(): number {
  return Number(process.hrtime.bigint());
}
