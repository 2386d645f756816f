import { delay } from '#shared/async/delay.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { Log } from '#shared/logging/read-store-log.ts';
import type { ProjectionPositions } from './published-positions.ts';

/** Others take a node that tells nothing for a few of these as dead. */
const beatMilliseconds = 1000;
/** After a failure. */
const retryMilliseconds = 200;

export interface PositionPublisherOptions {
  /** Tells it; called again only when it has settled. @throws UnavailableError: then it is called again */
  readonly save: (positions: ProjectionPositions) => Promise<void>;
  readonly positions: () => ProjectionPositions;
  readonly log: Log;
}

/**
 * Tells other nodes where the projections stand: at every change, one call at a time, always what holds then; and once a
 * second though nothing changes. It holds up nobody.
 */
export class PositionPublisher {
  readonly #options: PositionPublisherOptions;
  readonly #outage: OutageLog;
  #woken = new AbortController();
  #told = '';
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(options: PositionPublisherOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log, 'The store in which other nodes read how far the projections are');
  }

  /** To be called when the positions may have changed. */
  changed(): void {
    this.#woken.abort();
  }

  /** Tells until the signal aborts, and then what has changed last. @throws what `save` throws other than UnavailableError */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#tell(signal);
      const left = this.#toldAt + beatMilliseconds - performance.now();
      if (left > 0) await delay(left, AbortSignal.any([signal, this.#woken.signal]));
    }
    await this.#tell(signal);
  }

  async #tell(signal: AbortSignal): Promise<void> {
    this.#woken = new AbortController();
    const positions = this.#options.positions();
    const text = JSON.stringify(positions);
    if (text === this.#told && performance.now() - this.#toldAt < beatMilliseconds) return;
    try {
      await this.#options.save(positions);
      this.#told = text;
      this.#toldAt = performance.now();
      this.#outage.succeeded();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      this.#outage.failed(error);
      await delay(retryMilliseconds, signal);
    }
  }
}
