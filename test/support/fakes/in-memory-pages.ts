import { ChangeListener } from '#event-store/change-notifications.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { LogPage, LogPageRequest, LogPages, PagedEvent } from '#event-store/log-pages.ts';
import { LazyEvent } from '#event-store/recorded-event.ts';

/** The pages of a log in memory. */
export class InMemoryPages implements LogPages {
  readonly changes = new ChangeListener();
  /** The requests so far. */
  readonly requests: LogPageRequest[] = [];
  readonly #events: () => ReadonlyArray<RecordedEvent>;

  /** @param events returns the stored events, in order */
  constructor(events: () => ReadonlyArray<RecordedEvent>) {
    this.#events = events;
  }

  async readPage(request: LogPageRequest): Promise<LogPage> {
    this.requests.push(request);
    const { after, maxEvents, types, exceptTypes = [] } = request;
    const stored = this.#events().filter(({ position }) => position > after);
    const wanted = stored.filter(({ type }) => types?.includes(type) ?? !exceptTypes.includes(type));
    const events = wanted.slice(0, maxEvents).map(paged);
    const isEnd = events.length === wanted.length;
    const last = isEnd ? stored.at(-1) : events.at(-1);
    const characters = events.reduce((sum, event) => sum + event.characters, 0);
    return { after, position: last?.position ?? after, events, characters, isEnd };
  }

  async lastPosition(): Promise<number> {
    return this.#events().at(-1)?.position ?? 0;
  }

  async eventAt(position: number): Promise<string | null> {
    return this.#events().find((event) => event.position === position)?.id ?? null;
  }

  /** Must be called after an append. */
  grown(): void {
    this.changes.notify(this.#events().at(-1)?.position ?? 0);
  }
}

/** Adds the length of its texts to an event. An event whose texts cannot be read has it already. */
function paged(event: RecordedEvent): PagedEvent {
  return event instanceof LazyEvent ? event : { ...event, characters: JSON.stringify(event.data).length };
}
