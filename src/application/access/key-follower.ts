import { keyCutoffEvents } from '#domain/api-key/cutoff.ts';
import { apiKeyEvents } from '#domain/api-key/events.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { followLog } from '#event-store/follow-log.ts';
import { type Clock, monotonicClock } from '#leases/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';

/** The event types that decide which keys and secrets are valid. */
const keyEventTypes: ReadonlyArray<string> = [...Object.keys(apiKeyEvents), ...Object.keys(keyCutoffEvents)];

/** Receives the stored key events in order; an event may come twice. */
export type KeyEventListener = (events: ReadonlyArray<RecordedEvent>) => void;

export interface KeyFollowerOptions {
  readonly store: Pick<EventStore, 'subscribe' | 'lastPosition'>;
  /** The position after which it follows; null while it is unknown. */
  readonly beginAfter: () => number | null;
  readonly log: Logger;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** How often the end of the log is read. */
const readIntervalMs = 200;
/** The timeout of a read of the log's end. */
const readTimeoutMs = 1_000;
/** The most known ends of the log that are not reached yet. */
const maxKnownEnds = 50;
const retryLimits = { firstMs: 20, maxMs: 1_000 };

/** An end of the log, and the time at which the read began. */
interface KnownEnd {
  readonly position: number;
  readonly startedAt: number;
}

interface Waiter {
  readonly since: number;
  readonly resolve: (seen: boolean) => void;
}

/**
 * Follows the key events of the log. The listeners have received every event that was stored before `seenEndAt`.
 */
export class KeyFollower {
  readonly #options: KeyFollowerOptions;
  readonly #clock: Clock;
  readonly #outage: OutageLog;
  readonly #stopped = new AbortController();
  readonly #listeners: KeyEventListener[] = [];
  readonly #waiters = new Set<Waiter>();
  #running: Promise<unknown> = Promise.resolve();
  #position: number | null = null;
  #knownEnds: ReadonlyArray<KnownEnd> = [];
  #readingSince: number | null = null;
  #seenEndAt = Number.NEGATIVE_INFINITY;
  #lastReadFailed = false;
  #wakeUp = new AbortController();

  constructor(options: KeyFollowerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
    this.#outage = new OutageLog(options.log, 'The event store, where revoked keys are followed,');
  }

  listen(listener: KeyEventListener): void {
    this.#listeners.push(listener);
  }

  start(): void {
    this.#running = Promise.all([this.#follow(), this.#readEndOften()]);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wakeUp.abort();
    for (const waiter of this.#waiters) waiter.resolve(false);
    await this.#running;
  }

  /** In milliseconds of the clock; never, while it has not caught up once. */
  get seenEndAt(): number {
    return this.#seenEndAt;
  }

  /** Whether the store does not answer, so that a caller need not wait for it. */
  get isStoreAway(): boolean {
    const since = this.#readingSince;
    return this.#lastReadFailed || (since !== null && this.#clock.now() - since > readTimeoutMs);
  }

  /**
   * Waits until it has seen everything that was stored before this call.
   * @returns false if this takes longer than the limit, or if the store is away
   */
  async seeEnd(limitMs: number): Promise<boolean> {
    if (this.isStoreAway || this.#stopped.signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { since: this.#clock.now(), resolve };
    this.#waiters.add(waiter);
    const limit = new AbortController();
    void this.#clock.pause(limitMs, limit.signal).then(() => resolve(false));
    this.#wakeUp.abort();
    try {
      return await promise;
    } finally {
      limit.abort();
      this.#waiters.delete(waiter);
    }
  }

  #follow(): Promise<void> {
    return followLog({
      store: this.#options.store,
      types: keyEventTypes,
      after: () => this.#position ?? this.#begin(),
      handle: (batch) => {
        for (const listener of this.#listeners) listener(batch.events);
        this.#position = batch.position;
        this.#outage.succeeded();
        this.#settle();
      },
      onFailure: (error) => this.#outage.failed(error),
      retryLimits,
      clock: this.#clock,
      signal: this.#stopped.signal,
    });
  }

  /** The position after which to begin; null if it is stopped. */
  async #begin(): Promise<number | null> {
    const { store, beginAfter } = this.#options;
    for (;;) {
      const after = beginAfter();
      // The checkpoint of a read model of another log may be after the end of this one.
      if (after !== null) return after <= (await store.lastPosition()) ? after : 0;
      await this.#clock.pause(readIntervalMs, this.#stopped.signal);
      if (this.#stopped.signal.aborted) return null;
    }
  }

  async #readEndOften(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedAt = this.#clock.now();
      this.#wakeUp = new AbortController();
      await this.#readEnd(startedAt);
      const isWaitedFor = [...this.#waiters].some(({ since }) => since > startedAt);
      if (!isWaitedFor || this.#lastReadFailed) await this.#clock.pause(readIntervalMs, this.#pauseSignal());
    }
  }

  #pauseSignal(): AbortSignal {
    return this.#lastReadFailed ? this.#stopped.signal : this.#wakeUp.signal;
  }

  async #readEnd(startedAt: number): Promise<void> {
    this.#readingSince = startedAt;
    try {
      const position = await this.#options.store.lastPosition();
      this.#lastReadFailed = false;
      this.#knownEnds = [...this.#knownEnds.slice(-maxKnownEnds), { position, startedAt }];
      this.#settle();
    } catch {
      this.#lastReadFailed = true;
      for (const waiter of this.#waiters) waiter.resolve(false);
    } finally {
      this.#readingSince = null;
    }
  }

  #settle(): void {
    const position = this.#position;
    if (position === null) return;
    for (const end of this.#knownEnds) if (end.position <= position) this.#seenEndAt = end.startedAt;
    this.#knownEnds = this.#knownEnds.filter((end) => end.position > position);
    for (const waiter of this.#waiters) if (waiter.since <= this.#seenEndAt) waiter.resolve(true);
  }
}
