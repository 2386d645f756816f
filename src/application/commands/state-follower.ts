import type { EventStore } from '#event-store/event-store.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { StreamWriter } from './stream-writer.ts';

const retryLimits = { firstMs: 50, maxMs: 5_000 };

export interface StateFollowerOptions {
  readonly store: Pick<EventStore, 'subscribe' | 'lastPosition'>;
  readonly writer: Pick<StreamWriter, 'see'>;
  readonly log: Logger;
}

/**
 * Keeps the cached states of streams current with the appends of other nodes. Without it there are only more conflicts.
 */
export class StateFollower {
  readonly #options: StateFollowerOptions;
  readonly #stopped = new AbortController();
  readonly #outage: OutageLog;
  #running: Promise<void> = Promise.resolve();

  constructor(options: StateFollowerOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log, 'The event store, where states of streams are followed,');
  }

  start(): void {
    this.#running = this.#follow();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { store, writer } = this.#options;
    const { signal } = this.#stopped;
    const backOff = new BackOff(retryLimits);
    let position: number | null = null;
    while (!signal.aborted) {
      try {
        position ??= await store.lastPosition();
        for await (const batch of store.subscribe({ after: position, signal })) {
          writer.see(batch.events);
          position = batch.position;
          backOff.succeeded();
          this.#outage.succeeded();
        }
      } catch (error) {
        if (!signal.aborted) this.#outage.failed(error);
      }
      await delay(backOff.failed(), signal);
    }
  }
}
