import type { EventBatch, SubscribeOptions } from '#event-store/event-store.ts';
import { LazyEvent } from '#event-store/lazy-event.ts';
import type { Upcast } from '#event-store/upcasting.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import { callFailure } from './call-failure.ts';
import type { Connection } from './connection.ts';
import { bytesOf, positionOf, storedEvent, typeOf } from './event-message.ts';
import type { StoreLog } from './store-log.ts';
import { SubscriptionFeed, type Taken } from './subscription-feed.ts';

/** Events in a batch when the subscriber does not say. */
const defaultBatchSize = 1_000;

/** Events that wait for a subscriber at most; the server waits with the rest. */
const maxWaiting = 2_000;

/** Tries without a success before a log line is a warning: one server drops subscribers as a matter of course. */
const triesBeforeWarning = 3;

/** Subscriptions that never end by themselves: when the server's does, another goes on after the last batch handled. */
export class Subscriptions {
  readonly #connection: Connection;
  readonly #upcast: Upcast;
  readonly #startMs: number;
  readonly #log: StoreLog;
  readonly #closed = new AbortController();

  /** @param startMs until the server confirms a subscription */
  constructor(connection: Connection, upcast: Upcast, startMs: number, log: StoreLog) {
    this.#connection = connection;
    this.#upcast = upcast;
    this.#startMs = startMs;
    this.#log = log;
  }

  /** See the port. */
  async *subscribe(options: SubscribeOptions): AsyncGenerator<EventBatch, void, void> {
    const signal = AbortSignal.any([options.signal, this.#closed.signal]);
    const isWanted = filterOf(options);
    const backOff = new BackOff({ firstMs: 20, longestMs: 2_000 });
    let position = options.after;
    let caughtUp = false;
    let failures = 0;
    while (!signal.aborted) {
      for await (const taken of this.#feed(position, options.batchSize ?? defaultBatchSize, () => caughtUp, signal)) {
        if ('failure' in taken) {
          failures += 1;
          this.#tell(taken.failure, position, failures);
          break;
        }
        failures = 0;
        backOff.succeeded();
        const batch = this.#batch(taken, position, isWanted);
        if (batch === null) continue;
        yield batch;
        position = batch.position;
        caughtUp = batch.caughtUp;
      }
      await delay(backOff.failed(), signal);
    }
  }

  /** Ends every subscription, without an error. */
  close(): void {
    this.#closed.abort();
  }

  /** What one call of the server's subscription gives, then how it failed; nothing more once the signal aborts. */
  async *#feed(
    after: number,
    count: number,
    isCaughtUp: () => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<Taken | { readonly failure: unknown }, void, void> {
    let feed: SubscriptionFeed | null = null;
    const close = () => feed?.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      feed = await SubscriptionFeed.open(this.#connection, after, maxWaiting, this.#startMs);
      while (!signal.aborted) {
        const taken = await feed.take(count, isCaughtUp());
        if (taken === null) return;
        yield taken;
      }
    } catch (failure) {
      this.#connection.failed(failure, this.#startMs);
      if (!signal.aborted) yield { failure };
    } finally {
      signal.removeEventListener('abort', close);
      feed?.close();
    }
  }

  /** Null when it would tell nothing. */
  #batch({ messages, caughtUp }: Taken, after: number, isWanted: (type: string) => boolean): EventBatch | null {
    // A server that is asked again may send the last one again.
    const fresh = messages.filter((message) => positionOf(message) > after);
    const chosen = fresh.filter((message) => isWanted(typeOf(message)));
    const last = fresh.at(-1);
    if (last === undefined && !caughtUp) return null;
    return {
      events: chosen.map((message) => new LazyEvent(storedEvent(message), this.#upcast)),
      position: last === undefined ? after : positionOf(last),
      caughtUp,
      characters: chosen.reduce((sum, message) => sum + bytesOf(message), 0),
    };
  }

  #tell(failure: unknown, position: number, failures: number): void {
    const fields = { detail: callFailure(failure).detail, position };
    if (failures < triesBeforeWarning) this.#log.debug(fields, 'a subscription ended; another goes on');
    else if (failures === triesBeforeWarning) this.#log.warn(fields, 'subscriptions cannot be kept open');
  }
}

function filterOf({ types, exceptTypes = [] }: SubscribeOptions): (type: string) => boolean {
  const named = new Set(types ?? exceptTypes);
  return (type) => named.has(type) === (types !== undefined);
}
