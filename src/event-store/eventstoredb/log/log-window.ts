import type { LogPage } from './log-page.ts';

export interface LogWindowLimits {
  readonly maxEvents: number;
  /** Of the events' texts. */
  readonly maxCharacters: number;
}

/** The pages that were read last, so that all who follow the log at about the same place share them. */
export class LogWindow {
  readonly #limits: LogWindowLimits;
  /** In the order in which they were read. */
  #pages: LogPage[] = [];
  #events = 0;
  #characters = 0;

  constructor(limits: LogWindowLimits) {
    this.#limits = limits;
  }

  /** The page that holds the log right after a position; undefined where none does. */
  find(position: number): LogPage | undefined {
    return this.#pages.findLast((page) => page.after <= position && position < page.position);
  }

  /** Whether the page that ends at a position was followed by more. */
  hasMoreAfter(position: number): boolean {
    return this.#pages.findLast((page) => page.position === position)?.isEnd === false;
  }

  /** Keeps a page; the oldest are forgotten where there are too many. */
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
