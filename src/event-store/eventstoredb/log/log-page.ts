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
  /** Whether no further event of ours was stored at the time of the read. */
  readonly isEnd: boolean;
  /** The time when its read began, on the clock of `threadsTime`. */
  readonly begunAt: number;
}

/** Returns nanoseconds on a monotonic clock that all threads of a process share. */
export function threadsTime(): number {
  return Number(process.hrtime.bigint());
}
