import type { ProjectionPositions } from '#read-store/published-positions.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';

/** Other nodes take a node for dead when it has published nothing for several of these intervals. */
const heartbeatMs = 1000;
const retryDelayMs = 200;

export interface PositionPublisherOptions {
  /** Called again only after it has settled. @throws UnavailableError: then it is retried */
  readonly save: (positions: ProjectionPositions) => Promise<void>;
  readonly positions: () => ProjectionPositions;
  readonly log: Logger;
}

/**
 * Publishes the positions of the projections to other nodes: after every change, and once a second without a change.
 * One call runs at a time and stores the newest positions, so nothing waits for the publisher.
 */
export class PositionPublisher {
  readonly #options: PositionPublisherOptions;
  readonly #outage: OutageLog;
  #woken = new AbortController();
  #published = '';
  /** When it publishes next, even without a change. */
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(options: PositionPublisherOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log, 'The store in which other nodes read how far the projections are');
  }

  /** Call it when the positions may have changed. */
  changed(): void {
    this.#woken.abort();
  }

  /** Publishes the last change after the signal has aborted. @throws what `save` throws other than UnavailableError */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#publish(signal);
      const left = this.#dueAt - clock.now();
      if (left > 0) await delay(left, AbortSignal.any([signal, this.#woken.signal]));
    }
    await this.#publish(signal);
  }

  async #publish(signal: AbortSignal): Promise<void> {
    this.#woken = new AbortController();
    const positions = this.#options.positions();
    const text = JSON.stringify(positions);
    if (text === this.#published && clock.now() < this.#dueAt) return;
    try {
      await this.#options.save(positions);
      this.#published = text;
      this.#dueAt = clock.now() + heartbeatMs;
      this.#outage.succeeded();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      this.#outage.failed(error);
      await delay(retryDelayMs, signal);
    }
  }
}
