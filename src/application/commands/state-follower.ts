import type { EventStore } from '#event-store/event-store.ts';
import { followLog } from '#event-store/follow-log.ts';
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

  #follow(): Promise<void> {
    const { store, writer } = this.#options;
    let position: number | null = null;
    return followLog({
      store,
      after: async () => {
        position ??= await store.lastPosition();
        return position;
      },
      handle: (batch) => {
        writer.see(batch.events);
        position = batch.position;
        this.#outage.succeeded();
      },
      onFailure: (error) => this.#outage.failed(error),
      retryLimits,
      signal: this.#stopped.signal,
    });
  }
}
