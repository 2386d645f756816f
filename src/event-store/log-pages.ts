import type { RecordedEvent } from './event-store.ts';

/** An event of a page, with the length of its texts. */
export interface PagedEvent extends RecordedEvent {
  readonly characters: number;
}

export interface LogPageRequest {
  /** The position after which the page begins; 0 for the whole log. */
  readonly after: number;
  /** Maximum number of events. A store whose callers share a read may return more. */
  readonly maxEvents: number;
  /** The types of events. A store without such a filter returns events of all types. */
  readonly types?: ReadonlyArray<string>;
  /**
   * Types that are left out, and not together with `types`. A store without such a filter returns events of all types.
   */
  readonly exceptTypes?: ReadonlyArray<string>;
  /** True to read from the store, although another thread has sent the page, or it is being read. */
  readonly isFresh?: boolean;
}

export interface LogPage {
  readonly after: number;
  /** The position up to which the page covers the log, including filtered events; `after` if nothing was stored. */
  readonly position: number;
  readonly events: ReadonlyArray<PagedEvent>;
  /** The length of its events' texts. */
  readonly characters: number;
  /** No further event was stored at the time of the read. */
  readonly isEnd: boolean;
}

export function pageWith<Event extends PagedEvent, Page extends LogPage>(page: Page, events: ReadonlyArray<Event>) {
  return { ...page, events, characters: events.reduce((sum, { characters }) => sum + characters, 0) };
}

export interface LogChanges {
  /**
   * Resolves when an event past a position is stored, when the signal aborts, or after half a minute.
   * @throws UnavailableError if the store has failed, so that no more events are announced
   */
  waitPast(position: number, signal: AbortSignal): Promise<void>;
  /**
   * Called before the removal of a stream is answered, in each thread that reads the log.
   * @returns a function that removes the listener
   */
  onStreamRemoved(listener: (stream: string) => void | Promise<void>): () => void;
  /**
   * Called when the log may no longer have what was read from it: after an outage, after a change of node, and when the
   * store shows less than it has announced. An embedded store never does.
   * @returns a function that removes the listener
   */
  onDoubt(listener: () => void): () => void;
}

/** Reads the log in pages. Only `LogTail` and the tools of the command line use it. */
export interface LogPages {
  /** Reads a page, which ends early, after at least one event, if the texts are large. @throws UnavailableError */
  readPage(request: LogPageRequest): Promise<LogPage>;
  /** The position of the last event stored; 0 for an empty log. @throws UnavailableError */
  lastPosition(): Promise<number>;
  /** The id of the event at exactly this position; null if the log has none there. @throws UnavailableError */
  eventAt(position: number): Promise<string | null>;
  readonly changes: LogChanges;
}
