import type { EventStore, StoredEvent } from '#event-store/event-store.ts';

/** A stored event with its position in one store's log. */
export interface RawEvent extends StoredEvent {
  readonly position: number;
}

/** A log with the events as stored, to move and verify it. Every engine has it. */
export interface RawLog {
  /**
   * Reads the events after a position, in order; none at the end of the log. If the texts are large, it stops early,
   * after at least one event.
   * @throws UnavailableError
   */
  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> | Promise<ReadonlyArray<RawEvent>>;
  /** Reads the position of the last event; 0 for an empty log. @throws UnavailableError */
  lastPosition(): Promise<number>;
}

/** A log on a server that also has events of other applications. */
export interface SharedLog extends Pick<EventStore, 'append'>, Pick<RawLog, 'readRawLog'> {
  /** Reads the position of our last event; 0 without one. @throws UnavailableError */
  lastOwnPosition(): Promise<number>;
}

/** Returns our part of a shared log, which ends with our last event. */
export function ownPartOf(log: SharedLog): RawLog & Pick<EventStore, 'append'> {
  return {
    append: (stream, expectedRevision, events) => log.append(stream, expectedRevision, events),
    readRawLog: (after, limit) => log.readRawLog(after, limit),
    lastPosition: () => log.lastOwnPosition(),
  };
}

/** The target of an import. Nothing else should write to it meanwhile. */
export interface LogTarget extends RawLog {
  /**
   * Stores events in their order, each at its revision, durably when it returns. After a failure the first ones may be
   * stored, without a gap.
   * @returns the position of the last event
   * @throws LogError if a stream is at another revision, or if an event is too large for the store; UnavailableError
   */
  store(events: ReadonlyArray<StoredEvent>): Promise<number>;
}

/** A page that outlives two collections of young garbage would fill the heap; larger ones are read no faster. */
const pageEvents = 200;

/**
 * Reads a log page by page. It reads the next page while the caller works on the current one.
 * @param upTo the position of the last event
 * @param after the position after which to begin; by default the beginning
 * @throws UnavailableError
 */
export async function* pagesOf(
  log: RawLog,
  upTo: number,
  after = 0,
): AsyncGenerator<ReadonlyArray<RawEvent>, void, void> {
  let position = after;
  let reading: Promise<ReadonlyArray<RawEvent>> | null = null;
  while (position < upTo) {
    const page: ReadonlyArray<RawEvent> = await (reading ?? readPage(log, position));
    const last = page.at(-1);
    if (last === undefined) return;
    position = last.position;
    reading = position < upTo ? readPage(log, position) : null;
    // No caller waits for this page if the consumer stops early.
    reading?.catch(() => undefined);
    yield position <= upTo ? page : page.filter((event) => event.position <= upTo);
  }
}

async function readPage(log: RawLog, after: number): Promise<ReadonlyArray<RawEvent>> {
  return log.readRawLog(after, pageEvents);
}

/** Reads a log from its beginning, event by event. @throws UnavailableError */
export async function* eventsOf(log: RawLog, upTo: number): AsyncGenerator<RawEvent, void, void> {
  for await (const page of pagesOf(log, upTo)) yield* page;
}
