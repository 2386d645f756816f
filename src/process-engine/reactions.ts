import type { RecordedEvent } from '#event-store/event-store.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import { Semaphore } from '#shared/async/semaphore.ts';

/** Waits until a time (RFC 3339), and lets others work meanwhile. Rejects when the process stops. */
export type PauseUntil = (time: string) => Promise<void>;

/** Waits for something, and lets others work meanwhile. */
export type Aside = <Result>(wait: () => Promise<Result>) => Promise<Result>;

/** A process that goes in order waits in its turn. */
export const inPlace: Aside = (wait) => wait();

/** A pause in a process that goes in order would hold up every event behind it. */
export const notInOrder: PauseUntil = () => Promise.reject(new Error('a process that goes in order does not pause'));

export interface ReactionsOptions {
  /** Reactions at work at once, at most; those that pause are not counted. */
  readonly concurrency: number;
  /** Reactions begun and not ended, at most. Default 10,000. */
  readonly maxOpen?: number;
  readonly handle: (event: RecordedEvent, pauseUntil: PauseUntil, aside: Aside) => Promise<void>;
  /** Called when a reaction has ended. */
  readonly onEnd: () => void;
  /** Called when a reaction has failed and will be retried. @param retryDelayMs until then */
  readonly onFailure: (error: unknown, retryDelayMs: number) => void;
  readonly signal: AbortSignal;
}

const defaultMaxOpen = 10_000;

/** What a process waits before it tries an event again. */
export const retryLimits = { firstMs: 50, longestMs: 10_000 };

/**
 * Reactions to events, several at once and in no order, each retried until it succeeds. One that fails or pauses delays
 * no other. The oldest one that has not ended determines the position.
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
    this.#places = new Semaphore(options.concurrency, options.signal);
    this.#openPlaces = new Semaphore(options.maxOpen ?? defaultMaxOpen, options.signal);
  }

  /** The position up to which every event was reacted to. */
  get passed(): number {
    const [oldest] = this.#open.values();
    return oldest ?? this.#seen;
  }

  /** Begins to handle an event as soon as there is a place. Events come in order; one that is open is left alone. */
  async begin(event: RecordedEvent): Promise<void> {
    const { position } = event;
    if (position <= this.#seen) return;
    await this.#openPlaces.acquire();
    await this.#places.acquire();
    this.#open.set(position, this.#seen);
    this.#seen = position;
    const running = this.#run(event).finally(() => {
      this.#running.delete(running);
      this.#places.release();
      this.#openPlaces.release();
    });
    this.#running.add(running);
  }

  /** Must be called when every reaction up to a position has begun. */
  see(position: number): void {
    this.#seen = Math.max(this.#seen, position);
  }

  /** Waits for what runs; after the signal that is what cannot be broken off. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(event: RecordedEvent): Promise<void> {
    const { handle, onEnd, onFailure, signal } = this.#options;
    const backOff = new BackOff(retryLimits);
    while (!signal.aborted) {
      try {
        await handle(event, this.#pauseUntil, this.#aside);
        this.#open.delete(event.position);
        return onEnd();
      } catch (error) {
        if (signal.aborted) return;
        const retryDelayMs = backOff.failed();
        onFailure(error, retryDelayMs);
        await this.#paused(retryDelayMs);
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
    this.#places.release();
    try {
      return await wait();
    } finally {
      await this.#places.acquire();
    }
  };
}
