import type { StoredEvent } from '#event-store/event-store.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** An event with its position in one store's log. */
export interface RawEvent extends StoredEvent {
  readonly position: number;
}

/** A log that can be moved and verified. Every engine has it. */
export interface RawLog {
  /**
   * Reads events in order; none at the end of the log. If the texts are large, it stops early, after at least one
   * event.
   * @throws UnavailableError
   */
  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> | Promise<ReadonlyArray<RawEvent>>;
  /** The position of the last event; 0 for an empty log. @throws UnavailableError */
  lastPosition(): Promise<number>;
}

/** A log that is filled. Nothing else should write to it meanwhile. */
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
 * Reads the next page while the caller works on the current one.
 * @param upTo the position of the last event
 * @param after by default the beginning
 * @param endWithinMs how long a log may show nothing before that position, because a node of a cluster is behind the
 * one that named it
 * @throws UnavailableError, also if the log ends before the position
 */
export async function* pagesOf(
  log: RawLog,
  upTo: number,
  after = 0,
  endWithinMs = 10_000,
): AsyncGenerator<ReadonlyArray<RawEvent>, void, void> {
  let position = after;
  let reading: Promise<ReadonlyArray<RawEvent>> | null = null;
  while (position < upTo) {
    const page: ReadonlyArray<RawEvent> = await (reading ?? readNextPage(log, position, endWithinMs));
    position = page.at(-1)?.position ?? position;
    reading = position < upTo ? readNextPage(log, position, endWithinMs) : null;
    // No caller waits for this page if the consumer stops early.
    reading?.catch(() => undefined);
    yield position <= upTo ? page : page.filter((event) => event.position <= upTo);
  }
}

const retryLimits = { firstMs: 20, maxMs: 500 };

async function readNextPage(log: RawLog, after: number, endWithinMs: number): Promise<ReadonlyArray<RawEvent>> {
  const end = clock.now() + endWithinMs;
  const backOff = new BackOff(retryLimits);
  for (;;) {
    const page = await log.readRawLog(after, pageEvents);
    if (page.length > 0) return page;
    if (clock.now() >= end)
      throw new UnavailableError(`The log ends at position ${after}, before the end that it had: try again.`);
    await delay(backOff.failed());
  }
}

/** @throws UnavailableError */
export async function* eventsOf(log: RawLog, upTo: number): AsyncGenerator<RawEvent, void, void> {
  for await (const page of pagesOf(log, upTo)) yield* page;
}
