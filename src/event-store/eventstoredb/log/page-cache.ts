import type { LazyEvent } from '#event-store/lazy-event.ts';
import type { LogPage } from '#event-store/log-pages.ts';

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

  /** Finds the page with the events right after a position; undefined if there is none. */
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

  #count({ events, characters }: ReadPage, sign: 1 | -1): void {
    this.#events += sign * (events.length + 1);
    this.#characters += sign * characters;
  }
}
