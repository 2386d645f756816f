import { type LogPage, type PagedEvent, pageWith } from './log-pages.ts';

export type TypeFilter = (type: string) => boolean;

/** Events that were taken from one or more pages. */
export interface TakenEvents {
  readonly events: ReadonlyArray<PagedEvent>;
  /** The position up to which the pages were taken, including filtered events. */
  readonly position: number;
  /** The length of the events' texts. */
  readonly characters: number;
}

/** The newest pages without a gap, for the followers at the end of the log. */
export class LogWindow {
  readonly #maxCharacters: number;
  #pages: LogPage[] = [];
  #characters = 0;
  #start = 0;
  #end = 0;

  /** @param maxCharacters of the events' texts */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  get end(): number {
    return this.#end;
  }

  /** Adds a page that begins at the window's end. If the texts become too many, the oldest pages are dropped. */
  add(page: LogPage): void {
    this.#end = page.position;
    if (page.events.length === 0) return;
    this.#pages.push(page);
    this.#characters += page.characters;
    let dropped = 0;
    while (this.#characters > this.#maxCharacters) {
      const oldest = this.#pages[dropped];
      if (oldest === undefined) break;
      this.#characters -= oldest.characters;
      this.#start = oldest.position;
      dropped += 1;
    }
    if (dropped > 0) this.#pages = this.#pages.slice(dropped);
  }

  /** Moves the window and drops all pages. */
  moveTo(position: number): void {
    this.#pages = [];
    this.#characters = 0;
    this.#start = position;
    this.#end = position;
  }

  /** True if the window has all events after the position that were read. */
  covers(position: number): boolean {
    return position >= this.#start;
  }

  take(after: number, isWanted: TypeFilter, maxEvents: number): TakenEvents {
    // Most followers are near the end.
    const first = this.#pages.findLastIndex(({ position }) => position <= after) + 1;
    return takeEvents(this.#pages.slice(first), { after, end: this.#end, isWanted, maxEvents });
  }

  forget(stream: string): void {
    if (!this.#pages.some(({ events }) => events.some((event) => event.stream === stream))) return;
    this.#pages = this.#pages.map((page) => withoutStream(page, stream));
    this.#characters = this.#pages.reduce((sum, { characters }) => sum + characters, 0);
  }
}

interface TakeOptions {
  readonly after: number;
  /** The position up to which the pages cover the log. */
  readonly end: number;
  readonly isWanted: TypeFilter;
  readonly maxEvents: number;
}

/** Takes events in the order of the log. */
export function takeEvents(pages: Iterable<LogPage>, { after, end, isWanted, maxEvents }: TakeOptions): TakenEvents {
  const events: PagedEvent[] = [];
  let characters = 0;
  for (const page of pages) {
    if (page.position <= after) continue;
    for (const event of page.events) {
      if (event.position <= after || !isWanted(event.type)) continue;
      if (events.length === maxEvents) return { events, position: events.at(-1)?.position ?? after, characters };
      events.push(event);
      characters += event.characters;
    }
  }
  return { events, position: Math.max(end, after), characters };
}

function withoutStream(page: LogPage, stream: string): LogPage {
  return pageWith(
    page,
    page.events.filter((event) => event.stream !== stream),
  );
}
