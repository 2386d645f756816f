import type { LazyEvent } from '#event-store/lazy-event.ts';

/** A part of the log from one read: our events after a position, up to another. */
export interface LogPage {
  /** The position after which it begins. */
  readonly after: number;
  /** The position up to which it covers the log; `after` if nothing was stored. */
  readonly position: number;
  readonly events: ReadonlyArray<LazyEvent>;
  /** The length of the events' texts. */
  readonly characters: number;
  /** No further event of ours was stored when it was read. */
  readonly isEnd: boolean;
  /** When its read began, on the clock of `threadsTime`. */
  readonly begunAt: number;
}

/** Nanoseconds on a clock that all threads of a process share, and that never goes back. */
export function threadsTime(): number {
  return Number(process.hrtime.bigint());
}
