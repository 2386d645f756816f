import type { RecordedEvent } from '#event-store/event-store.ts';
import { Semaphore } from '#shared/async/semaphore.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';

/** Waits until a time in RFC 3339. Other reactions run meanwhile. It rejects when the process stops. */
export type PauseUntil = (time: string) => Promise<void>;

/** Waits while other reactions run. */
export type WithoutSlot = <Result>(wait: () => Promise<Result>) => Promise<Result>;

/** A process that handles events in order waits with its slot, and nothing else runs. */
export const withSlot: WithoutSlot = (wait) => wait();

/** A pause in a process that handles events in order would delay every later event. */
export const pauseUnsupported: PauseUntil = () =>
  Promise.reject(new Error('a process that handles events in order cannot pause'));

export interface ReactionsOptions {
  /** Maximum reactions that run at the same time; paused ones do not count. */
  readonly concurrency: number;
  /** Retries until that succeeds. It rejects when the signal aborts. */
  readonly handle: (event: RecordedEvent, pauseUntil: PauseUntil, withoutSlot: WithoutSlot) => Promise<void>;
  readonly onEnd: () => void;
  /** Called only for a failure before the signal aborts. */
  readonly onFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Maximum reactions that have begun and not ended. */
const maxOpen = 10_000;

/**
 * Runs several reactions to events at the same time, in any order. A reaction that waits or pauses delays no other. The
 * oldest unfinished one determines the position.
 */
export class Reactions {
  readonly #options: ReactionsOptions;
  readonly #slots: Semaphore;
  readonly #openSlots: Semaphore;
  /** The unfinished reactions in order: by the position of the event, the position that was passed before it. */
  readonly #open = new Map<number, number>();
  readonly #running = new Set<Promise<void>>();
  #seen: number;

  /** @param after the position before the first event */
  constructor(after: number, options: ReactionsOptions) {
    this.#options = options;
    this.#seen = after;
    this.#slots = new Semaphore(options.concurrency, options.signal);
    this.#openSlots = new Semaphore(maxOpen, options.signal);
  }

  /** Every reaction up to this position has ended. */
  get passed(): number {
    const [oldest] = this.#open.values();
    return oldest ?? this.#seen;
  }

  /**
   * Starts the reaction to an event as soon as a slot is free. Events must come in order. An event whose reaction runs
   * is ignored.
   */
  async begin(event: RecordedEvent): Promise<void> {
    const { position } = event;
    if (position <= this.#seen) return;
    await this.#openSlots.acquire();
    await this.#slots.acquire();
    this.#open.set(position, this.#seen);
    this.#seen = position;
    const running = this.#run(event).finally(() => {
      this.#running.delete(running);
      this.#slots.release();
      this.#openSlots.release();
    });
    this.#running.add(running);
  }

  /** Call it when every reaction up to the position has begun. */
  observe(position: number): void {
    this.#seen = Math.max(this.#seen, position);
  }

  /** Waits for the reactions that run. After the signal has aborted, only those that cannot be interrupted still do. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(event: RecordedEvent): Promise<void> {
    const { handle, onEnd, onFailure, signal } = this.#options;
    if (signal.aborted) return;
    try {
      await handle(event, this.#pauseUntil, this.#withoutSlot);
      this.#open.delete(event.position);
      onEnd();
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
  }

  readonly #pauseUntil: PauseUntil = async (time) => {
    await this.#withoutSlot(() => delay(Date.parse(time) - clock.time(), this.#options.signal));
    this.#options.signal.throwIfAborted();
  };

  readonly #withoutSlot: WithoutSlot = async (wait) => {
    this.#slots.release();
    try {
      return await wait();
    } finally {
      await this.#slots.acquire();
    }
  };
}
