import type { RecordedEvent } from './event-store.ts';

/** An event of a page, with the length of its texts. */
export interface PagedEvent extends RecordedEvent {
  readonly characters: number;
}

/** The request for a part of the log. */
export interface LogPageRequest {
  /** The position after which the page begins; 0 for the whole log. */
  readonly after: number;
  /** The wanted number of events. A store whose callers share a read may return more. */
  readonly maxEvents: number;
  /** Only events of these types. A store without such a filter returns events of all types. */
  readonly types?: ReadonlyArray<string>;
  /** Only events of other types than these; as `types`, and not together with it. */
  readonly exceptTypes?: ReadonlyArray<string>;
  /** Whether to read from the store, although another thread has sent the page, or it is being read. */
  readonly isFresh?: boolean;
}

/** A part of the log from one read: the events after a position, up to another. */
export interface LogPage {
  /** The position after which it begins. */
  readonly after: number;
  /** The position up to which it covers the log, including filtered events; `after` if nothing was stored. */
  readonly position: number;
  readonly events: ReadonlyArray<PagedEvent>;
  /** The length of its events' texts. */
  readonly characters: number;
  /** Whether no further event was stored at the time of the read. */
  readonly isEnd: boolean;
}

/** Returns a page with some of its events. */
export function pageWith<Event extends PagedEvent, Page extends LogPage>(page: Page, events: ReadonlyArray<Event>) {
  return { ...page, events, characters: events.reduce((sum, { characters }) => sum + characters, 0) };
}

/** Announces what happens to the log. */
export interface LogChanges {
  /**
   * Resolves when an event past a position is stored, when the signal aborts, or after half a minute.
   * @throws UnavailableError if the store has failed, so that no more events are announced
   */
  waitPast(position: number, signal: AbortSignal): Promise<void>;
  /**
   * Calls a listener before the removal of a stream is answered, in each thread that reads the log.
   * @returns a function that removes the listener
   */
  onStreamRemoved(listener: (stream: string) => void | Promise<void>): () => void;
  /**
   * Calls a listener when the log may no longer have what was read from it: after an outage, after a change of node, and
   * when the store shows less than it has announced. An embedded store never does.
   * @returns a function that removes the listener
   */
  onDoubt(listener: () => void): () => void;
}

/** The part of the event store's port that only `LogTail` and the tools of the command line use. */
export interface LogPages {
  /**
   * Reads the next part of the log. It ends early, after at least one event, if the texts are large.
   * @throws UnavailableError
   */
  readPage(request: LogPageRequest): Promise<LogPage>;
  /** The position of the last event stored; 0 for an empty log. @throws UnavailableError */
  lastPosition(): Promise<number>;
  /**
   * The id of the event at exactly this position; null if the log has none there.
   * @throws UnavailableError
   */
  eventAt(position: number): Promise<string | null>;
  readonly changes: LogChanges;
}
