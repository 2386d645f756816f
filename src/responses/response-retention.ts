import { repeating } from '#shared/async/repeating.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { ResponseOutline } from './response-store.ts';
import type { StoredResponses } from './stored-responses.ts';

const intervalMs = 30_000;
/** For messages. */
const store = 'The store of responses, from which old ones are to be removed';
const foundAtOnce = 100;

/** Why a response was removed. */
export type RemovalReason = 'age' | 'quota';

export interface ResponseRetentionOptions {
  readonly responses: StoredResponses;
  /** Called for each removed response. */
  readonly onRemoved: (reason: RemovalReason) => void;
}

/**
 * Removes responses that are too old, and the oldest ones of projects that have too much. The items that other responses
 * need stay until the last of these is removed. One node at a time may do this.
 */
export class ResponseRetention {
  readonly #options: ResponseRetentionOptions;

  constructor(options: ResponseRetentionOptions) {
    this.#options = options;
  }

  /** Keeps the limits twice a minute until a signal aborts. Outages of the store are logged. */
  async run(signal: AbortSignal, log: Logger): Promise<void> {
    await repeating(() => this.keepLimits(signal), { intervalMs, signal, log, store });
  }

  /** @throws UnavailableError */
  async keepLimits(signal: AbortSignal): Promise<void> {
    const { responses } = this.#options;
    for (const [project, bytes] of await responses.store.bytesByProject()) {
      let over = bytes - responses.quotaBytes;
      await this.#removeOldest(project, signal, ({ at }, freedBytes) => {
        over -= freedBytes;
        if (at < responses.turns.expiredBefore) return 'age';
        return over > 0 ? 'quota' : null;
      });
    }
  }

  /** @param reasonFor why a response is to be removed; it is asked with the bytes that the one before has freed */
  async #removeOldest(
    project: string,
    signal: AbortSignal,
    reasonFor: (response: ResponseOutline, freedBytes: number) => RemovalReason | null,
  ): Promise<void> {
    const { responses, onRemoved } = this.#options;
    let freedBytes = 0;
    for (;;) {
      const found = await responses.store.oldest(project, foundAtOnce);
      for (const response of found) {
        const reason = signal.aborted ? null : reasonFor(response, freedBytes);
        if (reason === null) return;
        freedBytes = await responses.release(response);
        onRemoved(reason);
      }
      if (found.length < foundAtOnce) return;
    }
  }
}
