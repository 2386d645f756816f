import type { LogPage } from './log-page.ts';

/** The limits of the events in memory. */
export interface LogWindowLimits {
  readonly maxEvents: number;
  /** The most characters of the events' texts. */
  readonly maxCharacters: number;
}

/** The last pages, which followers at about the same position share. */
export class LogWindow {
  readonly #limits: LogWindowLimits;
  /** The pages in the order of their reads. */
  #pages: LogPage[] = [];
  #events = 0;
  #characters = 0;

  constructor(limits: LogWindowLimits) {
    this.#limits = limits;
  }

  /** Finds the page with the events right after a position; undefined if there is none. */
  find(position: number): LogPage | undefined {
    return this.#pages.findLast((page) => page.after <= position && position < page.position);
  }

  /** Whether further events followed the page that ends at a position. */
  hasMoreAfter(position: number): boolean {
    return this.#pages.findLast((page) => page.position === position)?.isEnd === false;
  }

  /** Adds a page. If there are too many, the oldest are dropped. */
  add(page: LogPage): void {
    if (page.position === page.after) return;
    this.#pages.push(page);
    this.#events += page.events.length + 1;
    this.#characters += page.characters;
    let forgotten = 0;
    for (const oldest of this.#pages) {
      if (this.#events <= this.#limits.maxEvents && this.#characters <= this.#limits.maxCharacters) break;
      this.#events -= oldest.events.length + 1;
      this.#characters -= oldest.characters;
      forgotten += 1;
    }
    if (forgotten > 0) this.#pages = this.#pages.slice(forgotten);
  }
}
