import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
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
import { type LogChanges, pageWith } from '#event-store/log-pages.ts';
import { LazyEvent, type Upcast } from '#event-store/recorded-event.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { delay } from '#shared/async/timed-waits.ts';
import type { Availability } from '#shared/availability/availability.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { LogEnd } from './log-end.ts';
import { PageCache, PageExchange, PageSender, type ReadPage, type SharedPage } from './page-exchange.ts';
import type { WakeUpSource } from './wake-ups.ts';

/** The most events in a page. */
const pageEvents = 2_000;

/** The bytes of events in a page; the last event may exceed them. */
const pageBytes = 4 * 1024 * 1024;

/**
 * The first timeout of a page. It grows with each attempt, because the page may be behind many events of other
 * applications.
 */
const shortestPageMs = 15_000;
const shortestSearchMs = 3_000;
const longestPageMs = 600_000;

/** The limits of the pages in memory: texts and parsed values. */
const cacheLimits = { maxEvents: 20_000, maxCharacters: 12 * 1024 * 1024 };

/**
 * Under load the next read waits a millisecond for each event of the last page, and at most this long, so that pages
 * are fuller.
 */
const longestGatherMs = 10;

const retryLimits = { firstMs: 20, maxMs: 2_000 };

/** The pauses between reads while announced events are missing. */
const missingLimits = { firstMs: 20, maxMs: 500 };

/** If announced events are missing for longer, the log may not have them. */
const longestIndexLagMs = 1_000;

/** After this time they are lost: longer than a comparison of the log waits for a node that is behind. */
const lostAfterMs = 15_000;

export interface LogReaderOptions {
  readonly reads: Reads;
  readonly availability: Availability;
  readonly names: StreamNames;
  readonly upcast: Upcast;
  readonly wakeUps: WakeUpSource;
  /** From `changePort` of a reader in another thread. */
  readonly partner?: MessagePort;
}

/**
 * Reads the log in pages that the server filters, for the tail of this thread. Reads at the same position share a page.
 * A reader in another thread gets the pages at the log's end, and two readers that lag share their pages.
 */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #cache = new PageCache(cacheLimits);
  readonly #end: LogEnd;
  /** The running reads, by the position after which the page begins. */
  readonly #underWay = new Map<number, Promise<ReadPage>>();
  readonly #closed = new AbortController();
  readonly #senders = new Set<PageSender>();
  readonly #exchanges = new Set<PageExchange>();
  /** The positions with a pending request to another thread. */
  readonly #asking = new Set<number>();
  /** Whether the last event was searched from the end of the log. From then on it is read forwards. */
  #hasSearched = false;
  /** The current timeout of this search. */
  #searchMs = shortestSearchMs;
  /** The wait for events that are announced, and that the answering node does not show yet. */
  #missing: MissingEvents | null = null;
  /** The current timeout of a page. */
  #pageMs = shortestPageMs;
  /** The time until which the next read waits, on the clock of `performance.now()`. */
  #gatherUntil = 0;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    this.#end = new LogEnd({
      ask: (after) => this.#findNext(after),
      wakeUps: options.wakeUps,
      onPage: (page) => this.#cache.add(this.#received(page)),
      onRemoved: (stream) => this.#forgetHere(stream),
      onForeign: (stretch) => {
        for (const sender of this.#senders) sender.sendForeign(stretch);
      },
    });
    options.wakeUps.onDoubt?.(() => this.doubt());
    if (options.partner !== undefined) this.#exchangeBy(options.partner);
  }

  /** The announcements of new events and of removed streams. */
  get changes(): LogChanges {
    return this.#end;
  }

  /**
   * Returns the page after a position, from memory or by a read. Callers at the same time share one read.
   * @throws UnavailableError
   */
  async readPage(after: number): Promise<ReadPage> {
    const known = this.#cache.find(after) ?? this.#underWay.get(after);
    if (known !== undefined) return known;
    const reading = this.#read(after).finally(() => this.#underWay.delete(after));
    this.#underWay.set(after, reading);
    return reading;
  }

  /**
   * Reads the page after a position, and keeps it out of memory. No earlier answer has a part in it.
   * @throws UnavailableError
   */
  async readFresh(after: number): Promise<ReadPage> {
    return this.#pageOf(after, await this.#eventsAfter(after, after));
  }

  /** Drops a removed stream from memory, in other threads too. */
  async forget(stream: string): Promise<void> {
    this.#forgetHere(stream);
    await Promise.all([...this.#senders].map((sender) => sender.sendRemoval(stream)));
  }

  /** Reports that an event was stored. */
  stored(position: number): void {
    this.#end.raise(position);
  }

  /** Reports that the log may not have what was read from it, to other threads too. */
  doubt(): void {
    this.#cache.clear();
    for (const sender of this.#senders) sender.sendDoubt();
    this.#end.doubt();
  }

  /**
   * The position of our last event; 0 without one.
   * @throws UnavailableError
   */
  async lastPosition(): Promise<number> {
    if (!this.#hasSearched) await this.#searchEnd();
    for (;;) {
      const after = this.#end.known;
      const answers = await this.#beginAfter(after, (start) =>
        this.#options.reads.answers(this.#requestFrom(start, pageEvents), pageBytes),
      );
      this.#end.asked();
      const last = eventsAfter(after, answers).at(-1);
      if (last === undefined) return this.#end.known;
      this.#end.raise(positionOf(last));
    }
  }

  /** Creates a port by which a reader in another thread gets the pages of this one, for `wakeUpsByPort`. */
  changePort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const sender = new PageSender(port1);
    this.#senders.add(sender);
    this.#exchangeBy(port1);
    void this.#feed(sender).finally(() => this.#senders.delete(sender));
    return port2;
  }

  /** Ends every wait. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#options.wakeUps.close();
    for (const sender of this.#senders) sender.close();
    await this.#end.close();
  }

  /** Sends pages of new events. The other thread reads older and missed events itself. */
  async #feed(sender: PageSender): Promise<void> {
    const signal = AbortSignal.any([sender.signal, this.#closed.signal]);
    const backOff = new BackOff(retryLimits);
    let position: number | null = null;
    while (!signal.aborted) {
      try {
        position ??= await this.lastPosition();
        await this.#end.waitPast(position, signal);
        if (signal.aborted) return;
        const page = await this.readPage(position);
        backOff.succeeded();
        await sender.send(shared(page));
        position = Math.max(position, page.position);
      } catch {
        // The tail of this thread reads the same pages, and reports the failure.
        await this.#options.availability.waitForRecovery(backOff.failed(), signal);
      }
    }
  }

  #exchangeBy(port: MessagePort): void {
    const exchange = new PageExchange(port, (after) => this.#give(after));
    this.#exchanges.add(exchange);
    port.on('close', () => this.#exchanges.delete(exchange));
  }

  /** Returns the page after a position for another thread; null if this thread neither has it nor is reading it. */
  async #give(after: number): Promise<SharedPage | null> {
    // If two threads ask each other for the same page, the one that has created the port reads it.
    const mustRead = this.#options.partner === undefined && this.#asking.has(after);
    const page = this.#cache.find(after) ?? (mustRead ? undefined : await this.#underWay.get(after));
    return page === undefined ? null : shared(page);
  }

  /** Whether another thread may have the page after a position. At the log's end pages are sent without a request. */
  #mayBeElsewhere(after: number): boolean {
    return this.#exchanges.size > 0 && (after === 0 || this.#cache.hasMoreAfter(after));
  }

  async #askOthers(after: number): Promise<ReadPage | null> {
    if (!this.#mayBeElsewhere(after)) return null;
    this.#asking.add(after);
    try {
      const pages = await Promise.all([...this.#exchanges].map((exchange) => exchange.ask(after)));
      const page = pages.find((one) => one !== null && one.position > after);
      return page == null ? null : this.#received(page);
    } finally {
      this.#asking.delete(after);
    }
  }

  #received({ stored, ...page }: SharedPage): ReadPage {
    const events = stored.map((event) => new LazyEvent(event, this.#options.upcast));
    return pageWith({ ...page, events, characters: 0 }, events);
  }

  /** A page whose read began before a doubt may be of the log before, so it is read again. */
  async #read(after: number): Promise<ReadPage> {
    for (;;) {
      const { doubts } = this.#end;
      const page = (await this.#askOthers(after)) ?? (await this.#readFromStore(after));
      if (doubts !== this.#end.doubts) continue;
      this.#cache.add(page);
      this.#end.raise(page.position);
      this.#noteMissing(page);
      return page;
    }
  }

  async #readFromStore(after: number): Promise<ReadPage> {
    await this.#waitForMissing(after);
    const gatherMs = this.#gatherUntil - performance.now();
    if (gatherMs > 0) await delay(gatherMs, this.#closed.signal);
    const page = this.#pageOf(after, await this.#beginAfter(after, (start) => this.#eventsAfter(after, start)));
    if (page.isEnd) this.#gatherUntil = performance.now() + Math.min(page.events.length - 1, longestGatherMs);
    return page;
  }

  /** A page proves no more than its last event: the answering node may not show later events yet. */
  #pageOf(after: number, { messages, isEnd }: EventsAfter): ReadPage {
    const { names, upcast } = this.#options;
    if (!isEnd && messages.length === 0) throw this.#slowPage();
    this.#pageMs = shortestPageMs;
    const events = messages.map((message) => new LazyEvent(storedEvent(message, names), upcast));
    const position = events.at(-1)?.position ?? after;
    const characters = messages.reduce((sum, message) => sum + bytesOf(message), 0);
    return { after, position, events, characters, isEnd };
  }

  /**
   * Searches our last event from the end of the log, once. Many events of other applications may be after it, and the reads
   * that follow need not scan them.
   */
  async #searchEnd(): Promise<void> {
    const { reads, names } = this.#options;
    const { doubts } = this.#end;
    const [newest] = eventsAfter(0, await reads.answers(lastEventRequest()));
    const searching = reads.answers(lastOwnEventRequest(names.ownEvents()), pageBytes, this.#searchMs);
    const [last] = eventsAfter(0, await searching.catch((error: unknown) => this.#searchLonger(error)));
    const after = last === undefined ? 0 : positionOf(last);
    this.#end.raise(after);
    // Without a doubt both answers came over the same connection.
    if (newest !== undefined && this.#end.doubts === doubts)
      this.#end.passForeign({ after, before: positionOf(newest) });
    this.#hasSearched = true;
  }

  #searchLonger(error: unknown): never {
    this.#searchMs = longestPageMs;
    throw error;
  }

  /** Reads a page of our events after a position, in one call. */
  async #eventsAfter(after: number, start: number): Promise<EventsAfter> {
    const reading = this.#options.reads.page(this.#requestFrom(start, pageEvents), pageBytes, this.#pageMs);
    const { answers, isWhole } = await reading.catch((error: unknown) => {
      this.#giveMoreTime();
      throw error;
    });
    const isEnd = isWhole && answers.filter((answer) => answer.hasEvent()).length <= pageEvents;
    return { messages: eventsAfter(after, answers).slice(0, pageEvents), isEnd };
  }

  /** Returns the position of the first event of ours after a position; that position without one. */
  async #findNext(after: number): Promise<number> {
    const { answers } = await this.#beginAfter(after, (start) =>
      this.#options.reads.page(this.#requestFrom(start, 1), pageBytes, this.#pageMs),
    );
    const [next] = eventsAfter(after, answers);
    return next === undefined ? after : positionOf(next);
  }

  /**
   * Reads from a position on, or from the end of a known part without events of ours. If the server has no event at a
   * position of ours, it has another log, or it is behind.
   */
  async #beginAfter<Answer>(after: number, read: (start: number) => Promise<Answer>): Promise<Answer> {
    const { foreign } = this.#end;
    const start = foreign.after <= after && after < foreign.before ? foreign.before : after;
    try {
      return await read(start);
    } catch (error) {
      this.#end.forgetForeign();
      if (error instanceof InvalidPositionError && start === after) this.doubt();
      throw error;
    }
  }

  /** The answer includes the event at the first position. */
  #requestFrom(start: number, maxEvents: number): ReadReq {
    return logRequest(start, maxEvents + 1, this.#options.names.ownEvents());
  }

  /** Another node may have announced events that the leader does not show yet, because its index is late. */
  #noteMissing({ position, isEnd }: ReadPage): void {
    if (!isEnd) return;
    if (position >= this.#end.known) {
      this.#missing = null;
      return;
    }
    if (this.#missing?.after !== position)
      this.#missing = { after: position, since: performance.now(), backOff: new BackOff(missingLimits) };
    const missingMs = performance.now() - this.#missing.since;
    if (missingMs > longestIndexLagMs) this.doubt();
    if (missingMs > lostAfterMs) this.#end.withdraw(position);
  }

  async #waitForMissing(after: number): Promise<void> {
    if (this.#missing?.after === after) await delay(this.#missing.backOff.failed(), this.#closed.signal);
  }

  /** The next page gets more time, because many events of other applications may be before it. */
  #giveMoreTime(): void {
    this.#pageMs = Math.min(this.#pageMs * 2, longestPageMs);
  }

  /** The error of a page that ended before its first new event. */
  #slowPage(): UnavailableError {
    this.#giveMoreTime();
    return new UnavailableError('The event store did not answer a whole page of its log in time.');
  }

  #forgetHere(stream: string): void {
    this.#cache.forget(stream);
    this.#end.removed(stream);
  }
}

/** Our events after a position, from one answer. */
interface EventsAfter {
  readonly messages: ReadonlyArray<EventMessage>;
  /** Whether the node that answered shows no further events of ours. */
  readonly isEnd: boolean;
}

interface MissingEvents {
  readonly after: number;
  /** On the clock of `performance.now()`. */
  readonly since: number;
  readonly backOff: BackOff;
}

function eventsAfter(position: number, answers: ReadonlyArray<ReadResp>): ReadonlyArray<EventMessage> {
  return answers.flatMap((answer) => eventOf(answer) ?? []).filter((event) => positionOf(event) > position);
}

function shared({ after, position, events, isEnd }: ReadPage): SharedPage {
  return { after, position, stored: events.map(({ stored }) => stored), isEnd };
}
