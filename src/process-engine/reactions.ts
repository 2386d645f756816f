import type { RecordedEvent } from '#event-store/event-store.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';

/** Waits until a time (RFC 3339), and lets others work meanwhile. Rejects when the process stops. */
export type PauseUntil = (time: string) => Promise<void>;

/** Waits for something, and lets others work meanwhile. */
export type Aside = <Result>(wait: () => Promise<Result>) => Promise<Result>;

export interface ReactionsOptions {
  /** Reactions at work at once, at most; those that pause are not counted. */
  readonly atOnce: number;
  /** Reactions begun and not ended, at most. Default 10,000. */
  readonly maxOpen?: number;
  readonly react: (event: RecordedEvent, pauseUntil: PauseUntil, aside: Aside) => Promise<void>;
  /** Is told when one has ended. */
  readonly onEnd: () => void;
  /** Is told of one that failed and will be tried again, and when. */
  readonly onFailure: (error: unknown, retryMilliseconds: number) => void;
  readonly signal: AbortSignal;
}

const defaultMaxOpen = 10_000;

/** What a process waits before it tries an event again. */
export const retryLimits = { firstMs: 50, longestMs: 10_000 };

/**
 * Reactions to events, several at once and in no order, each tried until it succeeds. One that fails or pauses holds up
 * no other; how far all have come is told by the oldest that has not ended.
 */
export class Reactions {
  readonly #options: ReactionsOptions;
  readonly #places: Semaphore;
  readonly #openPlaces: Semaphore;
  /** By position, in order: the position that was passed before it. */
  readonly #open = new Map<number, number>();
  readonly #running = new Set<Promise<void>>();
  #seen: number;

  /** @param after the position after which the first event comes */
  constructor(after: number, options: ReactionsOptions) {
    this.#options = options;
    this.#seen = after;
    this.#places = new Semaphore(options.atOnce, options.signal);
    this.#openPlaces = new Semaphore(options.maxOpen ?? defaultMaxOpen, options.signal);
  }

  /** The position up to which every event was reacted to. */
  get passed(): number {
    const [oldest] = this.#open.values();
    return oldest ?? this.#seen;
  }

  /** Begins to react to an event as soon as there is a place. Events come in order; one that is open is left alone. */
  async begin(event: RecordedEvent): Promise<void> {
    const { position } = event;
    if (position <= this.#seen) return;
    await this.#openPlaces.take();
    await this.#places.take();
    this.#open.set(position, this.#seen);
    this.#seen = position;
    const running = this.#run(event).finally(() => {
      this.#running.delete(running);
      this.#places.give();
      this.#openPlaces.give();
    });
    this.#running.add(running);
  }

  /** Tells that nothing up to a position is left to begin. */
  see(position: number): void {
    this.#seen = Math.max(this.#seen, position);
  }

  /** Waits for what runs; after the signal that is what cannot be broken off. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(event: RecordedEvent): Promise<void> {
    const { react, onEnd, onFailure, signal } = this.#options;
    const backOff = new BackOff(retryLimits);
    while (!signal.aborted) {
      try {
        await react(event, this.#pauseUntil, this.#aside);
        this.#open.delete(event.position);
        return onEnd();
      } catch (error) {
        if (signal.aborted) return;
        const retryMilliseconds = backOff.failed();
        onFailure(error, retryMilliseconds);
        await this.#paused(retryMilliseconds);
      }
    }
  }

  readonly #pauseUntil: PauseUntil = async (time) => {
    await this.#paused(Date.parse(time) - Date.now());
    this.#options.signal.throwIfAborted();
  };

  /** Waits for less when the signal aborts. */
  #paused(milliseconds: number): Promise<void> {
    return this.#aside(() => delay(milliseconds, this.#options.signal));
  }

  readonly #aside: Aside = async (wait) => {
    this.#places.give();
    try {
      return await wait();
    } finally {
      await this.#places.take();
    }
  };
}

/** So many places, taken in the order asked for. Once the signal has come there is one for everybody: all are leaving. */
class Semaphore {
  #free: number;
  readonly #waiting: Array<() => void> = [];
  readonly #signal: AbortSignal;

  constructor(count: number, signal: AbortSignal) {
    this.#free = count;
    this.#signal = signal;
    signal.addEventListener('abort', () => {
      for (const begin of this.#waiting.splice(0)) begin();
    });
  }

  async take(): Promise<void> {
    if (this.#signal.aborted) return;
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
