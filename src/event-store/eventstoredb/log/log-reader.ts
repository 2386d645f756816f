import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { EventBatch, SubscribeOptions } from '#event-store/event-store.ts';
import type { Reads } from '#event-store/eventstoredb/connection/reads.ts';
import { bytesOf, eventOf, positionOf, storedEvent } from '#event-store/eventstoredb/wire/event-message.ts';
import { lastEventRequest, logRequest } from '#event-store/eventstoredb/wire/requests.ts';
import type { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { LazyEvent } from '#event-store/lazy-event.ts';
import type { Upcast } from '#event-store/upcasting.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import type { Availability } from '#shared/availability/availability.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import { LogEnd } from './log-end.ts';
import { LogFollower } from './log-follower.ts';
import { type LogPage, threadsTime } from './log-page.ts';
import { LogWindow } from './log-window.ts';
import { PageExchange } from './page-exchange.ts';
import { PageSender, type SharedPage } from './page-port.ts';
import type { WakeUpSource } from './wake-up-source.ts';

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

/** The limits of the pages that followers share: texts and parsed values. */
const windowLimits = { maxEvents: 20_000, maxCharacters: 12 * 1024 * 1024 };

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
  /** From `wakePort` of a reader in another thread. */
  readonly partner?: MessagePort;
  readonly log: Logger;
}

/**
 * Reads the log for all followers on this thread, in pages that the server filters, at the pace of the fastest
 * follower. Followers at the same position share a page; one that is far behind reads separate pages until it reaches
 * the others. A page is read only on request, so a slow follower delays no other and nothing accumulates. A reader in
 * another thread gets the pages at the log's end, and two readers that are behind share their pages.
 */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #window = new LogWindow(windowLimits);
  readonly #end: LogEnd;
  readonly #outage: OutageLog;
  /** The running reads, by the position after which the page begins. */
  readonly #underWay = new Map<number, Promise<LogPage>>();
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
    this.#outage = new OutageLog(options.log, 'The event store, whose log is followed,');
    this.#end = new LogEnd({
      ask: () => this.#askForEnd(),
      wakeUps: options.wakeUps,
      onPage: (page) => this.#window.add(this.#received(page)),
    });
    if (options.partner !== undefined) this.#exchangeBy(options.partner);
  }

  /** See `EventStore.subscribe`. */
  async *subscribe(options: SubscribeOptions): AsyncGenerator<EventBatch, void, void> {
    const signal = AbortSignal.any([options.signal, this.#closed.signal]);
    const follower = new LogFollower(options);
    const backOff = new BackOff(retryLimits);
    while (!signal.aborted) {
      const page = await this.#pageAfter(follower.position).catch((error: unknown) => this.#failed(error));
      if (signal.aborted) return;
      if (page === null) {
        await this.#options.availability.waitUntilBack(backOff.failed(), signal);
        continue;
      }
      backOff.succeeded();
      const batch = follower.take(page);
      if (batch !== null) yield batch;
      const isLive = follower.isCaughtUp;
      if (isLive) await this.#end.waitPast(follower.position, signal);
      // Pages from memory must not block the event loop, and must not delay sending a page to another thread.
      if (!isLive || this.#senders.size > 0) await nextTurn();
    }
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
  wakePort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const sender = new PageSender(port1);
    this.#senders.add(sender);
    this.#exchangeBy(port1);
    // The followers on this thread get a permanent failure too.
    void this.#feed(sender)
      .catch(() => sender.close())
      .finally(() => this.#senders.delete(sender));
    return port2;
  }

  /** Ends every subscription, without an error. */
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
        const page = await this.#pageAfter(position);
        backOff.succeeded();
        await sender.send(shared(page));
        position = Math.max(position, page.position);
      } catch (error) {
        this.#failed(error);
        await this.#options.availability.waitUntilBack(backOff.failed(), signal);
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
    const page = this.#window.find(after) ?? (mustRead ? undefined : await this.#underWay.get(after));
    return page === undefined ? null : shared(page);
  }

  /** Whether another thread may have the page after a position. At the log's end pages are sent without a request. */
  #mayBeElsewhere(after: number): boolean {
    return this.#exchanges.size > 0 && (after === 0 || this.#window.hasMoreAfter(after));
  }

  async #askOthers(after: number): Promise<LogPage | null> {
    this.#asking.add(after);
    try {
      const pages = await Promise.all([...this.#exchanges].map((exchange) => exchange.ask(after)));
      const page = pages.find((one) => one !== null && one.position > after);
      return page == null ? null : this.#received(page);
    } finally {
      this.#asking.delete(after);
    }
  }

  #received({ stored, ...page }: SharedPage): LogPage {
    const events = stored.map((event) => new LazyEvent(event, this.#options.upcast));
    return { ...page, events, characters: events.reduce((sum, { characters }) => sum + characters, 0) };
  }

  /** Returns the page after a position, from memory or by a read. Callers at the same time share one read. */
  async #pageAfter(position: number): Promise<LogPage> {
    const known = this.#window.find(position) ?? this.#underWay.get(position);
    if (known !== undefined) return known;
    const reading = this.#read(position).finally(() => this.#underWay.delete(position));
    this.#underWay.set(position, reading);
    return reading;
  }

  async #read(after: number): Promise<LogPage> {
    if (this.#mayBeElsewhere(after)) {
      const given = await this.#askOthers(after);
      if (given !== null) return this.#taken(given);
    }
    const gatherMs = this.#gatherUntil - performance.now();
    if (gatherMs > 0) await delay(gatherMs, this.#closed.signal);
    const begunAt = threadsTime();
    // The end is read before the page. If the page is not full, all other events up to this end belong to other
    // applications.
    const end = this.#end.known > after ? this.#end.known : await this.lastPosition();
    if (end <= after) return { after, position: after, events: [], characters: 0, isEnd: true, begunAt };
    const page = await this.#readPage(after, end, begunAt);
    this.#outage.succeeded();
    this.#taken(page);
    if (page.isEnd) this.#gatherUntil = performance.now() + Math.min(page.events.length - 1, longestGatherMs);
    return page;
  }

  #taken(page: LogPage): LogPage {
    this.#window.add(page);
    this.#end.raise(page.position);
    return page;
  }

  async #readPage(after: number, end: number, begunAt: number): Promise<LogPage> {
    const { reads, names, upcast } = this.#options;
    // The answer includes the event at the position itself.
    const request = logRequest(after, pageEvents + 1, names.ownEvents());
    const { answers, isWhole } = await reads.page(request, pageBytes, this.#pageMs);
    this.#pageMs = shortestPageMs;
    const messages = answers.flatMap((answer) => eventOf(answer) ?? []);
    const fresh = messages.filter((message) => positionOf(message) > after).slice(0, pageEvents);
    const events = fresh.map((message) => new LazyEvent(storedEvent(message, names), upcast));
    const isEnd = isWhole && messages.length <= pageEvents;
    const last = events.at(-1)?.position ?? after;
    const characters = fresh.reduce((sum, message) => sum + bytesOf(message), 0);
    return { after, position: isEnd ? Math.max(last, end) : last, events, characters, isEnd, begunAt };
  }

  async #askForEnd(): Promise<number> {
    const [answer] = await this.#options.reads.answers(lastEventRequest());
    const event = answer === undefined ? undefined : eventOf(answer);
    return event === undefined ? 0 : positionOf(event);
  }

  /** @throws a failure that a retry does not cure */
  #failed(error: unknown): null {
    if (!(error instanceof UnavailableError)) throw error;
    this.#pageMs = Math.min(this.#pageMs * 2, longestPageMs);
    if (!this.#closed.signal.aborted) this.#outage.failed(error);
    return null;
  }
}

function shared({ after, position, events, isEnd, begunAt }: LogPage): SharedPage {
  return { after, position, stored: events.map(({ stored }) => stored), isEnd, begunAt };
}
