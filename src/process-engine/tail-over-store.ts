import type { EventBatch, EventStore } from '#event-store/event-store.ts';
import type { Following, FollowOptions } from '#event-store/log-tail.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Tail } from './operator-requests.ts';

const retryLimits = { firstMs: 50, maxMs: 5_000 };

/** Follows the log by one subscription for each follower. The log tail replaces it. */
export function tailOver(store: Pick<EventStore, 'subscribe'>, log: Pick<Logger, 'error'>): Tail {
  return { follow: (options) => new Subscribed(store, options, log) };
}

class Subscribed implements Following {
  readonly #store: Pick<EventStore, 'subscribe'>;
  readonly #options: FollowOptions;
  readonly #log: Pick<Logger, 'error'>;
  #waits: Array<() => void> = [];
  position = 0;
  isCaughtUp = false;
  readonly ended: Promise<void>;

  constructor(store: Pick<EventStore, 'subscribe'>, options: FollowOptions, log: Pick<Logger, 'error'>) {
    this.#store = store;
    this.#options = options;
    this.#log = log;
    this.ended = this.#run();
  }

  async passed(position: number, signal: AbortSignal): Promise<boolean> {
    while (this.position < position) {
      if (signal.aborted || this.#options.signal.aborted) return false;
      await new Promise<void>((resolve) => {
        this.#waits.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return true;
  }

  async #run(): Promise<void> {
    const { signal, name, onError } = this.#options;
    const backOff = new BackOff(retryLimits);
    while (!signal.aborted) {
      try {
        const after = await this.#options.after();
        if (after === null) break;
        await this.#follow(after, backOff);
      } catch (error) {
        if (signal.aborted) break;
        const retryDelayMs = backOff.failed();
        if (onError === undefined) this.#log.error({ err: error }, `${name} has failed and is tried again`);
        else onError(error, retryDelayMs);
        await delay(retryDelayMs, signal);
      }
    }
    this.#wake();
  }

  async #follow(after: number, backOff: BackOff): Promise<void> {
    const { types, maxEvents, handle, signal } = this.#options;
    const filter = types === undefined ? {} : { types };
    const size = maxEvents === undefined ? {} : { batchSize: maxEvents };
    this.position = after;
    for await (const batch of this.#store.subscribe({ after, ...filter, ...size, signal })) {
      if (this.#isHandled(batch)) await handle(batch);
      if (signal.aborted) return;
      this.position = batch.position;
      this.isCaughtUp ||= batch.caughtUp;
      backOff.succeeded();
      this.#wake();
    }
  }

  #isHandled({ events, caughtUp }: EventBatch): boolean {
    return events.length > 0 || (caughtUp && !this.isCaughtUp);
  }

  #wake(): void {
    for (const wake of this.#waits.splice(0)) wake();
  }
}
