import type { EventStore } from '#event-store/event-store.ts';
import type { StoredEvent } from '#event-store/hash-chain.ts';

/** An event as stored, at its place in one store's log. */
export interface RawEvent extends StoredEvent {
  readonly position: number;
}

/** A log as it is stored, texts unread: what is moved and verified. Every engine has it. */
export interface RawLog {
  /**
   * The events after a position, in order; none at the end of the log. Stops early (with one event at least) where the
   * texts grow large.
   * @throws UnavailableError
   */
  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> | Promise<ReadonlyArray<RawEvent>>;
  /** The position of the last event stored; 0 for an empty log. @throws UnavailableError */
  lastPosition(): Promise<number>;
}

/** A log on a server that has other applications' events too. */
export interface SharedLog extends Pick<EventStore, 'append'>, Pick<RawLog, 'readRawLog'> {
  /** The position of our last event; 0 where there is none. @throws UnavailableError */
  lastOwnPosition(): Promise<number>;
}

/** Our part of a shared log: it ends with our last event. */
export function ownPartOf(log: SharedLog): RawLog & Pick<EventStore, 'append'> {
  return {
    append: (stream, expectedRevision, events) => log.append(stream, expectedRevision, events),
    readRawLog: (after, limit) => log.readRawLog(after, limit),
    lastPosition: () => log.lastOwnPosition(),
  };
}

/** A log that another one is put into. Nobody else should write to it meanwhile. */
export interface LogTarget extends RawLog {
  /**
   * Stores events, each at the revision that it says, so that the log's order is theirs; durable when it returns.
   * Where it fails, a part of them may be stored: the first ones, without a gap.
   * @returns the position of the last
   * @throws LogError when a stream is at another revision, or an event is too large for the store; UnavailableError
   */
  store(events: ReadonlyArray<StoredEvent>): Promise<number>;
}

/** A page that outlives two collections of young garbage would fill the heap; larger ones are read no faster. */
const pageEvents = 200;

/**
 * A log, page by page; the next page is read while one is worked on.
 * @param upTo the position at which to end, that event included
 * @param after the position after which to begin; by default at the beginning
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
    // Nobody waits for it where whoever takes the pages goes away.
    reading?.catch(() => undefined);
    yield position <= upTo ? page : page.filter((event) => event.position <= upTo);
  }
}

async function readPage(log: RawLog, after: number): Promise<ReadonlyArray<RawEvent>> {
  return log.readRawLog(after, pageEvents);
}

/** A log from its beginning, event by event. @throws UnavailableError */
export async function* eventsOf(log: RawLog, upTo: number): AsyncGenerator<RawEvent, void, void> {
  for await (const page of pagesOf(log, upTo)) yield* page;
}
