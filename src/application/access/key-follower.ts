import { keyCutoffEvents } from '#domain/api-key/api-key.ts';
import { apiKeyEvents } from '#domain/api-key/events.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import type { Following, LogTail } from '#event-store/log-tail.ts';
import { paginateAll } from '#read-store/paginate-all.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { abortable, delay, withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';

/** The types of events that decide which keys and secrets are valid. */
const keyEventTypes: ReadonlyArray<string> = [...Object.keys(apiKeyEvents), ...Object.keys(keyCutoffEvents)];

/** Receives events in order; an event may come twice. */
export type KeyEventListener = (events: ReadonlyArray<RecordedEvent>) => void;

export interface KeyFollowerOptions {
  readonly tail: Pick<LogTail, 'follow'>;
  readonly store: Pick<EventStore, 'lastPosition'>;
  /** The position after which the follower begins; null while it is unknown. */
  readonly beginAfter: () => number | null;
}

/** Time between two reads of the end of the log. */
const readIntervalMs = 200;
/** Time between two reads after no key was checked for a while. The next check then waits for a read. */
const idleIntervalMs = 2_000;
const idleAfterMs = 5_000;
/** Time limit of a read of the log's end, and of the wait until the follower has passed that end. */
const readTimeoutMs = 1_000;

interface Waiter {
  /** The number of the first read of the log's end that begins after the wait. */
  readonly read: number;
  readonly resolve: (seen: boolean) => void;
}

/** Follows the key events of the log. The listeners have received every event that was stored before `seenEndAt`. */
export class KeyFollower {
  readonly #options: KeyFollowerOptions;
  readonly #stopped = new AbortController();
  readonly #listeners: KeyEventListener[] = [];
  readonly #waiters = new Set<Waiter>();
  #running: Promise<unknown> = Promise.resolve();
  #position: number | null = null;
  /** The number of reads of the log's end that have begun. */
  #reads = 0;
  #readingSince: number | null = null;
  #seenEndAt = Number.NEGATIVE_INFINITY;
  #lastReadFailed = false;
  /** When a key was last checked. */
  #usedAt = clock.now();
  #wakeUp = new AbortController();

  constructor(options: KeyFollowerOptions) {
    this.#options = options;
  }

  listen(listener: KeyEventListener): void {
    this.#listeners.push(listener);
  }

  start(): void {
    const following = this.#follow();
    this.#running = Promise.all([following.ended, this.#readEndOften(following)]);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wakeUp.abort();
    for (const waiter of this.#waiters) waiter.resolve(false);
    await this.#running;
  }

  /** True once the follower knows where it begins: the listeners receive every event that is stored after that. */
  get hasBegun(): boolean {
    return this.#position !== null;
  }

  /**
   * When everything was last seen, in milliseconds of the clock; infinitely early before it has caught up once. A
   * caller counts as a check of a key.
   */
  get seenEndAt(): number {
    this.#usedAt = clock.now();
    return this.#seenEndAt;
  }

  /** True while the store does not answer, so that a caller need not wait for it. */
  get isStoreAway(): boolean {
    const since = this.#readingSince;
    return this.#lastReadFailed || (since !== null && clock.now() - since > readTimeoutMs);
  }

  /**
   * Waits for everything that was stored before this call.
   * @returns false if this takes longer than the limit, or if the store is unavailable
   */
  async seeEnd(limitMs: number): Promise<boolean> {
    if (this.isStoreAway || this.#stopped.signal.aborted) return false;
    this.#usedAt = clock.now();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { read: this.#reads + 1, resolve };
    this.#waiters.add(waiter);
    this.#wakeUp.abort();
    const hasSeen = await withTimeout(limitMs, promise, false);
    this.#waiters.delete(waiter);
    return hasSeen;
  }

  #follow(): Following {
    return this.#options.tail.follow({
      name: 'The follower of API keys',
      types: keyEventTypes,
      after: async () => {
        this.#position ??= await this.#begin();
        return this.#position;
      },
      handle: (batch) => {
        for (const listener of this.#listeners) listener(batch.events);
        this.#position = batch.position;
      },
      signal: this.#stopped.signal,
    });
  }

  /** Null if the follower is stopped. */
  async #begin(): Promise<number | null> {
    const { beginAfter } = this.#options;
    for (;;) {
      const after = beginAfter();
      // The checkpoint of a read model of another log may be after the end of this one.
      if (after !== null) return after <= (await this.#lastPosition()) ? after : 0;
      await delay(readIntervalMs, this.#stopped.signal);
      if (this.#stopped.signal.aborted) return null;
    }
  }

  async #readEndOften(following: Following): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedAt = clock.now();
      this.#reads += 1;
      const read = this.#reads;
      this.#wakeUp = new AbortController();
      const end = await this.#readEnd(startedAt);
      if (end !== null && this.hasBegun && (await this.#passes(following, end))) this.#sawEnd(read, startedAt);
      const isWaitedFor = [...this.#waiters].some((waiter) => waiter.read > read);
      if (!isWaitedFor || this.#lastReadFailed) await delay(this.#intervalMs, this.#pauseSignal());
    }
  }

  get #intervalMs(): number {
    return clock.now() - this.#usedAt > idleAfterMs ? idleIntervalMs : readIntervalMs;
  }

  #pauseSignal(): AbortSignal {
    return this.#lastReadFailed ? this.#stopped.signal : this.#wakeUp.signal;
  }

  /** @returns the end of the log; null if the store does not answer */
  async #readEnd(startedAt: number): Promise<number | null> {
    this.#readingSince = startedAt;
    try {
      const position = await this.#lastPosition();
      this.#lastReadFailed = false;
      return position;
    } catch {
      this.#lastReadFailed = true;
      for (const waiter of this.#waiters) waiter.resolve(false);
      return null;
    } finally {
      this.#readingSince = null;
    }
  }

  /** The end does not wait for a store that does not answer. */
  #lastPosition(): Promise<number> {
    return abortable(this.#stopped.signal, () => this.#options.store.lastPosition());
  }

  async #passes(following: Following, position: number): Promise<boolean> {
    // Most of the time nothing was stored, and a wait would need a timer.
    if (following.position >= position) return true;
    const limit = new AbortController();
    const ended = AbortSignal.any([limit.signal, this.#stopped.signal]);
    void delay(readTimeoutMs, ended).then(() => limit.abort());
    const hasPassed = await following.passed(position, ended);
    limit.abort();
    return hasPassed;
  }

  #sawEnd(read: number, startedAt: number): void {
    this.#seenEndAt = startedAt;
    for (const waiter of this.#waiters) if (waiter.read <= read) waiter.resolve(true);
  }
}

/** Maximum number of keys that are visited in one turn of the event loop. */
const keysPerTurn = 50;
/** Maximum number of keys that are visited in total, including revoked ones. */
const maxVisitedKeys = 50_000;

/**
 * Finds valid keys in the read models: the key or a descendant created or rotated them. The nearest come first.
 * @throws UnavailableError
 */
export async function descendantKeysOf(
  keyId: string,
  documents: ReadStore,
  limit: number,
): Promise<ReadonlyArray<string>> {
  const visited = new Set([keyId]);
  const descendants: string[] = [];
  let looked = 0;
  // A set iterates in insertion order, including entries added during the loop.
  for (const byKeyId of visited) {
    looked += 1;
    if (looked % keysPerTurn === 0) await clock.nextTurn();
    for await (const page of paginateAll<{ keyId: string }>(documents, 'api-key-origins', { byKeyId })) {
      for (const { value } of page) {
        if (visited.has(value.keyId)) continue;
        if (visited.size >= maxVisitedKeys) return descendants;
        visited.add(value.keyId);
        if ((await documents.get('api-keys', value.keyId)) !== null) descendants.push(value.keyId);
        if (descendants.length >= limit) return descendants;
      }
    }
  }
  return descendants;
}
