import type { MessagePort } from 'node:worker_threads';
import type { LogPage } from '#event-store/log-pages.ts';
import type { LazyEvent } from '#event-store/recorded-event.ts';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import { withTimeout, withTimeoutError } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/**
 * The longest wait for another thread, which may be busy or wait for the server itself. Then this thread reads the
 * page.
 */
const answerMs = 2_000;

/**
 * Requests pages from the reader in another thread, and answers its requests, so that two threads that read the same
 * part of the log read each page once. It only saves work: a page that the other thread does not have is read.
 */
export class PageExchange {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (page: SharedPage | null) => void>();
  #asked = 0;
  /** Whether the other thread has started and not ended. */
  #isReady = false;

  /** @param find returns the page after a position, if this thread has it or is reading it */
  constructor(port: MessagePort, find: (after: number) => Promise<SharedPage | null>) {
    this.#port = port;
    port.on('message', (message: PageMessage) => {
      this.#isReady = true;
      if (message.kind === 'ask') void this.#answer(message.number, find(message.after));
      else if (message.kind === 'answer') this.#waiting.get(message.number)?.(message.page);
    });
    port.on('close', () => this.#close());
    this.#post({ kind: 'ready' });
  }

  /**
   * Requests the page after a position.
   * @returns null if the other thread does not have the page, or does not answer in time
   */
  async ask(after: number): Promise<SharedPage | null> {
    if (!this.#isReady) return null;
    this.#asked += 1;
    const number = this.#asked;
    const answer = new Promise<SharedPage | null>((resolve) => this.#waiting.set(number, resolve));
    this.#post({ kind: 'ask', number, after });
    return withTimeout(answerMs, answer, null).finally(() => this.#waiting.delete(number));
  }

  async #answer(number: number, found: Promise<SharedPage | null>): Promise<void> {
    this.#post({ kind: 'answer', number, page: await found.catch(() => null) });
  }

  /** Sends a message. A message to a closed port is lost. */
  #post(message: PageMessage): void {
    this.#port.postMessage(message);
  }

  #close(): void {
    this.#isReady = false;
    for (const end of this.#waiting.values()) end(null);
  }
}

/** A page with its events as stored. */
export interface ReadPage extends LogPage {
  readonly events: ReadonlyArray<LazyEvent>;
}

/** The limits of the events in memory. */
export interface PageCacheLimits {
  readonly maxEvents: number;
  /** The most characters of the events' texts. */
  readonly maxCharacters: number;
}

/**
 * The last pages from the server or from another thread. Followers that read at about the same position, and readers
 * in two threads, then read each page once.
 */
export class PageCache {
  readonly #limits: PageCacheLimits;
  /** The pages in the order of their reads. */
  #pages: ReadPage[] = [];
  #events = 0;
  #characters = 0;

  constructor(limits: PageCacheLimits) {
    this.#limits = limits;
  }

  /** Finds the page with the events right after a position. */
  find(position: number): ReadPage | undefined {
    return this.#pages.findLast((page) => page.after <= position && position < page.position);
  }

  /** Whether further events followed the page that ends at a position. */
  hasMoreAfter(position: number): boolean {
    return this.#pages.findLast((page) => page.position === position)?.isEnd === false;
  }

  /** Adds a page. If there are too many, the oldest are dropped. */
  add(page: ReadPage): void {
    if (page.position === page.after) return;
    this.#pages.push(page);
    this.#count(page, 1);
    let dropped = 0;
    for (const oldest of this.#pages) {
      if (this.#events <= this.#limits.maxEvents && this.#characters <= this.#limits.maxCharacters) break;
      this.#count(oldest, -1);
      dropped += 1;
    }
    if (dropped > 0) this.#pages = this.#pages.slice(dropped);
  }

  /** Drops the pages that have events of a removed stream. */
  forget(stream: string): void {
    const isOfStream = (page: ReadPage) => page.events.some((event) => event.stream === stream);
    for (const page of this.#pages) if (isOfStream(page)) this.#count(page, -1);
    this.#pages = this.#pages.filter((page) => !isOfStream(page));
  }

  clear(): void {
    this.#pages = [];
    this.#events = 0;
    this.#characters = 0;
  }

  #count({ events, characters }: ReadPage, sign: 1 | -1): void {
    this.#events += sign * (events.length + 1);
    this.#characters += sign * characters;
  }
}

/** A page of the log for another thread, with its events as stored. */
export interface SharedPage {
  readonly after: number;
  readonly position: number;
  readonly stored: ReadonlyArray<RawEvent>;
  readonly isEnd: boolean;
}

/**
 * A part of the log without events of ours: there is none after `after` and before `before`. It only spares the server a
 * scan of the events of other applications. No position of a reader moves by it.
 */
export interface ForeignStretch {
  readonly after: number;
  /** The position of an event of any application. */
  readonly before: number;
}

/** A message between the readers of two threads. */
export type PageMessage =
  /** The newest known part of the log without events of ours. */
  | { readonly kind: 'foreign'; readonly stretch: ForeignStretch }
  /** A page at the log's end, for the followers there. */
  | { readonly kind: 'page'; readonly page: SharedPage }
  | { readonly kind: 'acknowledged' }
  /** A stream was removed: its events leave the memory of the other thread. */
  | { readonly kind: 'removed'; readonly stream: string }
  | { readonly kind: 'removal-acknowledged' }
  /** The log may not have what was read before this message. Later pages were read after it. */
  | { readonly kind: 'doubt' }
  /** A reader listens at this end. */
  | { readonly kind: 'ready' }
  /** Requests the page after a position, if the other reader has it or is reading it. */
  | { readonly kind: 'ask'; readonly number: number; readonly after: number }
  | { readonly kind: 'answer'; readonly number: number; readonly page: SharedPage | null };

/** The most pages on their way, so that they do not accumulate while the other thread is busy. */
const maxUnderWay = 4;

/** How long a removal waits for the other thread. */
const removalAnswerMs = 30_000;

const noAnswer = () => new UnavailableError('A thread that reads the log does not answer.');

/** Sends pages to a `wakeUpsByPort` in another thread. */
export class PageSender {
  readonly #port: MessagePort;
  readonly #closed = new AbortController();
  /** The removals that the other thread has not acknowledged, in order. */
  readonly #removals: Array<() => void> = [];
  #underWay = 0;
  #onAcknowledged: () => void = () => {};

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', ({ kind }: PageMessage) => {
      if (kind === 'removal-acknowledged') this.#removals.shift()?.();
      if (kind !== 'acknowledged') return;
      this.#underWay -= 1;
      this.#onAcknowledged();
    });
    port.on('close', () => {
      this.#closed.abort();
      this.#onAcknowledged();
      for (const acknowledge of this.#removals.splice(0)) acknowledge();
    });
  }

  /** Aborts when either end is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Sends a page. @returns when the next page may be sent */
  async send(page: SharedPage): Promise<void> {
    if (this.signal.aborted) return;
    this.#underWay += 1;
    this.#port.postMessage({ kind: 'page', page } satisfies PageMessage);
    while (this.#underWay >= maxUnderWay && !this.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#onAcknowledged = resolve;
      });
  }

  sendDoubt(): void {
    this.#port.postMessage({ kind: 'doubt' } satisfies PageMessage);
  }

  sendForeign(stretch: ForeignStretch): void {
    this.#port.postMessage({ kind: 'foreign', stretch } satisfies PageMessage);
  }

  /**
   * Reports the removal of a stream.
   * @returns when the other thread has dropped its events, or has ended
   * @throws UnavailableError if it does not answer in time
   */
  async sendRemoval(stream: string): Promise<void> {
    if (this.signal.aborted) return;
    this.#port.postMessage({ kind: 'removed', stream } satisfies PageMessage);
    const acknowledged = new Promise<void>((resolve) => this.#removals.push(resolve));
    await withTimeoutError(removalAnswerMs, acknowledged, noAnswer);
  }

  close(): void {
    this.#port.close();
    this.#closed.abort();
    this.#onAcknowledged();
  }
}
