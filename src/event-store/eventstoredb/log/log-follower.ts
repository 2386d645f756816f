import type { EventBatch, RecordedEvent, SubscribeOptions } from '#event-store/event-store.ts';
import { type LogPage, threadsTime } from './log-page.ts';

/** The default number of events in a batch. */
const defaultBatchSize = 1_000;

/** One subscription: its position, its filter, and whether it has reported that it is caught up. */
export class LogFollower {
  readonly #isWanted: (type: string) => boolean;
  readonly #batchSize: number;
  /** The time of the follower's start. Pages whose read began before do not show the current end of the log. */
  readonly #begunAt = threadsTime();
  #position: number;
  #isCaughtUp = false;

  constructor(options: Omit<SubscribeOptions, 'signal'>) {
    this.#isWanted = filterOf(options);
    this.#batchSize = options.batchSize ?? defaultBatchSize;
    this.#position = options.after;
  }

  get position(): number {
    return this.#position;
  }

  /** Whether its last page contained all of our events at the time of the read. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  /**
   * Takes the next batch from a page.
   * @returns null if the page has nothing new
   */
  take(page: LogPage): EventBatch | null {
    const events: RecordedEvent[] = [];
    let characters = 0;
    let position = Math.max(page.position, this.#position);
    for (const event of page.events) {
      if (event.position <= this.#position || !this.#isWanted(event.type)) continue;
      if (events.length === this.#batchSize) {
        position = events.at(-1)?.position ?? position;
        break;
      }
      events.push(event);
      characters += event.characters;
    }
    const caughtUp = page.isEnd && position >= page.position && page.begunAt >= this.#begunAt;
    const isNews = position > this.#position || (caughtUp && !this.#isCaughtUp);
    this.#position = position;
    this.#isCaughtUp = caughtUp;
    return isNews ? { events, position, caughtUp, characters } : null;
  }
}

function filterOf({ types, exceptTypes = [] }: Omit<SubscribeOptions, 'signal'>): (type: string) => boolean {
  const named = new Set(types ?? exceptTypes);
  return (type) => named.has(type) === (types !== undefined);
}
