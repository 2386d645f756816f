import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ChangeListener } from '#event-store/change-notifications.ts';
import { InvalidPositionError, type Reads } from '#event-store/eventstoredb/connection/reads.ts';
import {
  bytesOf,
  type EventMessage,
  eventOf,
  lastEventRequest,
  lastOwnEventRequest,
  logRequest,
  positionOf,
  storedEvent,
} from '#event-store/eventstoredb/wire/requests.ts';
import type { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import type { LogPage, LogPageRequest } from '#event-store/log-pages.ts';
import { LazyEvent, type Upcast } from '#event-store/recorded-event.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { ForeignStretch } from './wake-ups.ts';

/** Number of events in one answer to a search for the end. */
const searchedEvents = 2_000;

/** Maximum size of a page. The last event may exceed it. */
const pageBytes = 4 * 1024 * 1024;

/**
 * The first timeout of a page. It grows with each attempt, because the page may be behind many events of other
 * applications.
 */
const shortestPageMs = 15_000;
const shortestSearchMs = 3_000;
const longestPageMs = 600_000;

/** Callers share a read this long: longer than one takes that keeps its own limits. */
const sharedMs = longestPageMs + 60_000;

/**
 * Under load the next read waits a millisecond for each event of the last page, and at most this long, so that pages
 * are fuller.
 */
const longestGatherMs = 10;

/** Limits of the pause between reads while announced events are missing. */
const missingLimits = { firstMs: 20, maxMs: 500 };

/** If announced events are missing for longer, the log may not have them. */
const longestIndexLagMs = 1_000;

/** After this time missing events are lost: longer than a comparison of the log waits for a node that is behind. */
const lostAfterMs = 15_000;

const noStretch: ForeignStretch = { after: 0, before: 0 };

export interface LogReaderOptions {
  readonly reads: Reads;
  readonly names: StreamNames;
  readonly upcast: Upcast;
  /** Where this reader announces what it finds, and its doubts. */
  readonly changes: ChangeListener;
}

/** Reads the log in pages that the server filters, for the tail of this thread. */
export class LogReader {
  readonly #options: LogReaderOptions;
  /** Running reads by the position after which the page begins. Followers that are behind together share them. */
  readonly #underWay = new Map<number, SharedRead<LogPage>>();
  readonly #closed = new AbortController();
  /** The newest known part of the log without events of ours. */
  #foreign = noStretch;
  #doubts = 0;
  #askedAt = 0;
  /** True after a search from the end of the log. From then on the last event is read forwards. */
  #hasSearched = false;
  /** The running search, which callers share, because it may take longer than a caller waits. */
  #searching: SharedRead<void> | null = null;
  /** The current time limit of a search. */
  #searchMs = shortestSearchMs;
  /** Announced events that the answering node does not show yet. */
  #missing: MissingEvents | null = null;
  /** The current time limit of a page. */
  #pageMs = shortestPageMs;
  /** When the next read may begin, on this process's clock. */
  #gatherUntil = 0;

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  /** Reads a page. Callers at the same time share a read. @throws UnavailableError */
  readPage({ after, maxEvents }: LogPageRequest): Promise<LogPage> {
    const running = this.#underWay.get(after);
    if (running?.isYoung) return running.answer;
    const reading = new SharedRead(
      this.#read(after, maxEvents).finally(() => {
        if (this.#underWay.get(after) === reading) this.#underWay.delete(after);
      }),
    );
    this.#underWay.set(after, reading);
    return reading.answer;
  }

  /** Reads a page for one caller. No earlier answer has a part in it. @throws UnavailableError */
  async readFresh({ after, maxEvents }: LogPageRequest): Promise<LogPage> {
    return this.#pageOf(after, await this.#eventsAfter(after, after, maxEvents));
  }

  /** The log may not have what was read from it. */
  doubt(): void {
    this.#doubts += 1;
    // The next callers share no read that began before.
    this.#underWay.clear();
    this.#foreign = noStretch;
    this.#options.changes.notifyDoubt();
  }

  passForeign(stretch: ForeignStretch): void {
    this.#foreign = stretch;
  }

  get askedAt(): number {
    return this.#askedAt;
  }

  /** The position of our last event; 0 without one. @throws UnavailableError */
  async lastPosition(): Promise<number> {
    try {
      return await this.#findEnd();
    } finally {
      this.#askedAt = clock.now();
    }
  }

  close(): void {
    this.#closed.abort();
  }

  async #findEnd(): Promise<number> {
    const { changes, reads } = this.#options;
    if (!this.#hasSearched) await this.#sharedSearch();
    for (;;) {
      const after = changes.position;
      const answers = await this.#beginAfter(after, (start) =>
        reads.answers(this.#requestFrom(start, searchedEvents), pageBytes),
      );
      const events = answers.flatMap((answer) => eventOf(answer) ?? []);
      const last = events.at(-1);
      // The answer begins with the event at the position, which alone may be larger than a page.
      if (last === undefined || positionOf(last) <= after) return changes.position;
      changes.notify(positionOf(last));
      if (events.length <= searchedEvents && bytesOfAll(events) <= pageBytes) return changes.position;
    }
  }

  #sharedSearch(): Promise<void> {
    if (this.#searching?.isYoung) return this.#searching.answer;
    const searching = new SharedRead(
      this.#searchEnd().finally(() => {
        if (this.#searching === searching) this.#searching = null;
      }),
    );
    this.#searching = searching;
    return searching.answer;
  }

  async #read(after: number, maxEvents: number): Promise<LogPage> {
    await this.#waitForMissing(after);
    const gatherMs = this.#gatherUntil - clock.now();
    if (gatherMs > 0) await delay(gatherMs, this.#closed.signal);
    const found = await this.#beginAfter(after, (start) => this.#eventsAfter(after, start, maxEvents));
    const page = this.#pageOf(after, found);
    if (page.isEnd) this.#gatherUntil = clock.now() + Math.min(page.events.length - 1, longestGatherMs);
    this.#options.changes.notify(page.position);
    this.#noteMissing(page);
    return page;
  }

  /** A page proves no more than its last event: the answering node may not show later events yet. */
  #pageOf(after: number, { messages, isEnd }: EventsAfter): LogPage {
    const { names, upcast } = this.#options;
    if (!isEnd && messages.length === 0) throw this.#slowPage();
    this.#pageMs = shortestPageMs;
    const events = messages.map((message) => new LazyEvent(storedEvent(message, names), upcast));
    const position = events.at(-1)?.position ?? after;
    return { after, position, events, characters: bytesOfAll(messages), isEnd };
  }

  /**
   * Searches from the end of the log, once. Many events of other applications may be after it, and the reads that
   * follow need not scan them.
   */
  async #searchEnd(): Promise<void> {
    const { reads, names, changes } = this.#options;
    const doubts = this.#doubts;
    const [newest] = eventsAfter(0, await reads.answers(lastEventRequest()));
    const searching = reads.answers(lastOwnEventRequest(names.ownEvents()), pageBytes, this.#searchMs);
    const [last] = eventsAfter(0, await searching.catch((error: unknown) => this.#searchLonger(error)));
    const after = last === undefined ? 0 : positionOf(last);
    changes.notify(after);
    // Without a doubt both answers came over the same connection.
    if (newest !== undefined && this.#doubts === doubts) this.passForeign({ after, before: positionOf(newest) });
    this.#hasSearched = true;
  }

  #searchLonger(error: unknown): never {
    this.#searchMs = longestPageMs;
    throw error;
  }

  async #eventsAfter(after: number, start: number, maxEvents: number): Promise<EventsAfter> {
    const reading = this.#options.reads.page(this.#requestFrom(start, maxEvents), pageBytes, this.#pageMs);
    const { answers, isWhole } = await reading.catch((error: unknown) => {
      this.#giveMoreTime();
      throw error;
    });
    const isEnd = isWhole && answers.filter((answer) => answer.hasEvent()).length <= maxEvents;
    return { messages: eventsAfter(after, answers).slice(0, maxEvents), isEnd };
  }

  /**
   * Reads from a position on, or from the end of a known part without events of ours. If the server has no event at a
   * position of ours, it has another log, or it is behind.
   */
  async #beginAfter<Answer>(after: number, read: (start: number) => Promise<Answer>): Promise<Answer> {
    const foreign = this.#foreign;
    const start = foreign.after <= after && after < foreign.before ? foreign.before : after;
    try {
      return await read(start);
    } catch (error) {
      this.#foreign = noStretch;
      // The next search passes by the foreign events again, with its longer limit.
      this.#hasSearched = false;
      if (error instanceof InvalidPositionError && start === after) this.doubt();
      throw error;
    }
  }

  /** The answer includes the event at the first position. */
  #requestFrom(start: number, maxEvents: number): ReadReq {
    return logRequest(start, maxEvents + 1, this.#options.names.ownEvents());
  }

  /** Another node may have announced events that the leader does not show yet, because its index is late. */
  #noteMissing({ position, isEnd }: LogPage): void {
    const { changes } = this.#options;
    if (!isEnd) return;
    if (position >= changes.position) {
      this.#missing = null;
      return;
    }
    if (this.#missing?.after !== position)
      this.#missing = { after: position, since: clock.now(), backOff: new BackOff(missingLimits) };
    const missingMs = clock.now() - this.#missing.since;
    if (missingMs > longestIndexLagMs) this.doubt();
    if (missingMs > lostAfterMs) changes.withdraw(position);
  }

  async #waitForMissing(after: number): Promise<void> {
    if (this.#missing?.after === after) await delay(this.#missing.backOff.failed(), this.#closed.signal);
  }

  /** Gives the next page more time, because many events of other applications may be before it. */
  #giveMoreTime(): void {
    this.#pageMs = Math.min(this.#pageMs * 2, longestPageMs);
  }

  /** The error when a page ended before its first new event. */
  #slowPage(): UnavailableError {
    this.#giveMoreTime();
    return new UnavailableError('The event store did not answer a whole page of its log in time.');
  }
}

/** A read that later callers share. */
class SharedRead<Answer> {
  readonly answer: Promise<Answer>;
  readonly #beganAt = clock.now();

  constructor(answer: Promise<Answer>) {
    this.answer = answer;
  }

  /** True while the read may still be answered. */
  get isYoung(): boolean {
    return clock.now() - this.#beganAt <= sharedMs;
  }
}

interface EventsAfter {
  readonly messages: ReadonlyArray<EventMessage>;
  /** True if the node that answered shows no further events of ours. */
  readonly isEnd: boolean;
}

interface MissingEvents {
  readonly after: number;
  /** When the events were first missing, on this process's clock. */
  readonly since: number;
  readonly backOff: BackOff;
}

function eventsAfter(position: number, answers: ReadonlyArray<ReadResp>): ReadonlyArray<EventMessage> {
  return answers.flatMap((answer) => eventOf(answer) ?? []).filter((event) => positionOf(event) > position);
}

function bytesOfAll(messages: ReadonlyArray<EventMessage>): number {
  return messages.reduce((sum, message) => sum + bytesOf(message), 0);
}
