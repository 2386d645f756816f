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
  /** Counts up with every page that is begun to be read. */
  readonly readNumber: number;
}
