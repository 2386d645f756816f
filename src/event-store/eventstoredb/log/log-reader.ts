import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Reads } from '#event-store/eventstoredb/connection/reads.ts';
import {
  bytesOf,
  eventOf,
  lastEventRequest,
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
import { LogEnd, type WakeUpSource } from './log-end.ts';
import { PageCache, PageExchange, PageSender, type ReadPage, type SharedPage } from './page-exchange.ts';

/** The most events in a page. */
const pageEvents = 2_000;

/** The bytes of events in a page; the last event may exceed them. */
const pageBytes = 4 * 1024 * 1024;

/**
 * The first timeout of a page. It grows with each attempt, because the page may be behind many events of other
 * applications.
 */
const shortestPageMs = 15_000;
const longestPageMs = 600_000;

/** The limits of the pages in memory: texts and parsed values. */
const cacheLimits = { maxEvents: 20_000, maxCharacters: 12 * 1024 * 1024 };

/**
 * Under load the next read waits a millisecond for each event of the last page, and at most this long, so that pages
 * are fuller.
 */
const longestGatherMs = 10;

const retryLimits = { firstMs: 20, maxMs: 2_000 };

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
  /** The current timeout of a page. */
  #pageMs = shortestPageMs;
  /** The time until which the next read waits, on the clock of `performance.now()`. */
  #gatherUntil = 0;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    this.#end = new LogEnd({
      ask: () => this.#askForEnd(),
      wakeUps: options.wakeUps,
      onPage: (page) => this.#cache.add(this.#received(page)),
      onRemoved: (stream) => this.#forgetHere(stream),
    });
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

  /** Drops a removed stream from memory, in other threads too. */
  async forget(stream: string): Promise<void> {
    this.#forgetHere(stream);
    await Promise.all([...this.#senders].map((sender) => sender.sendRemoval(stream)));
  }

  /** Reports that an event was stored. */
  stored(position: number): void {
    this.#end.raise(position);
  }

  /**
   * The end of the log, including events of other applications.
   * @throws UnavailableError
   */
  async lastPosition(): Promise<number> {
    const position = await this.#askForEnd();
    this.#end.asked(position);
    return position;
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

  async #read(after: number): Promise<ReadPage> {
    if (this.#mayBeElsewhere(after)) {
      const given = await this.#askOthers(after);
      if (given !== null) return this.#taken(given);
    }
    const gatherMs = this.#gatherUntil - performance.now();
    if (gatherMs > 0) await delay(gatherMs, this.#closed.signal);
    // The end is read before the page. If the page is not full, all other events up to this end belong to other
    // applications.
    const end = this.#end.known > after ? this.#end.known : await this.lastPosition();
    if (end <= after) return { after, position: after, events: [], characters: 0, isEnd: true };
    const page = await this.#readPage(after, end);
    this.#taken(page);
    if (page.isEnd) this.#gatherUntil = performance.now() + Math.min(page.events.length - 1, longestGatherMs);
    return page;
  }

  #taken(page: ReadPage): ReadPage {
    this.#cache.add(page);
    this.#end.raise(page.position);
    return page;
  }

  async #readPage(after: number, end: number): Promise<ReadPage> {
    const { reads, names, upcast } = this.#options;
    // The answer includes the event at the position itself.
    const request = logRequest(after, pageEvents + 1, names.ownEvents());
    const { answers, isWhole } = await reads.page(request, pageBytes, this.#pageMs).catch((error: unknown) => {
      this.#giveMoreTime();
      throw error;
    });
    this.#pageMs = shortestPageMs;
    const messages = answers.flatMap((answer) => eventOf(answer) ?? []);
    const fresh = messages.filter((message) => positionOf(message) > after).slice(0, pageEvents);
    const events = fresh.map((message) => new LazyEvent(storedEvent(message, names), upcast));
    const isEnd = isWhole && messages.length <= pageEvents;
    const last = events.at(-1)?.position ?? after;
    if (!isEnd && last === after) throw this.#slowPage();
    const characters = fresh.reduce((sum, message) => sum + bytesOf(message), 0);
    return { after, position: isEnd ? Math.max(last, end) : last, events, characters, isEnd };
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

  async #askForEnd(): Promise<number> {
    const [answer] = await this.#options.reads.answers(lastEventRequest());
    const event = answer === undefined ? undefined : eventOf(answer);
    return event === undefined ? 0 : positionOf(event);
  }

  #forgetHere(stream: string): void {
    this.#cache.forget(stream);
    this.#end.removed(stream);
  }
}

function shared({ after, position, events, isEnd }: ReadPage): SharedPage {
  return { after, position, stored: events.map(({ stored }) => stored), isEnd };
}
