import { repeating } from '#shared/async/repeating.ts';
import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { StoredResponses } from './stored-responses.ts';

const intervalMs = 30_000;
/** What the messages call the store. */
const store = 'The store of responses, from which old ones are to be removed';
const foundAtOnce = 256;
/** Number of responses of one project that expire before the next one is served. */
const expiredAtOnce = 16;

export interface ResponseRetentionOptions {
  readonly responses: StoredResponses;
}

/**
 * Removes responses that are too old, deleted ones that nothing needs, and what erasures have left. The items that other
 * responses need stay until the last of these is removed. Indexes find all of it, so it costs nothing where there is
 * nothing to do. One node at a time may do this.
 */
export class ResponseRetention {
  readonly #responses: StoredResponses;

  constructor({ responses }: ResponseRetentionOptions) {
    this.#responses = responses;
  }

  /** Runs twice a minute until a signal aborts. Outages of the store are logged. */
  async run(signal: AbortSignal, log: Logger): Promise<void> {
    await repeating(() => this.keepLimits(signal), { intervalMs, signal, log, store });
  }

  /** @throws UnavailableError */
  async keepLimits(signal: AbortSignal): Promise<void> {
    await this.#expire(signal);
    await this.#responses.removal.removeAll(signal);
    await this.#responses.erasure.repeat(signal);
  }

  /** Expires responses project by project in turn. */
  async #expire(signal: AbortSignal): Promise<void> {
    const responses = this.#responses;
    for (;;) {
      const old = await responses.store.storedBefore(responses.turns.expiredBefore, foundAtOnce);
      const waiting = [...Map.groupBy(old, ({ projectId }) => projectId)];
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        if (signal.aborted) return;
        const [projectId, ofProject] = next;
        await responses.expire(projectId, ofProject.slice(0, expiredAtOnce));
        if (ofProject.length > expiredAtOnce) waiting.push([projectId, ofProject.slice(expiredAtOnce)]);
        await clock.nextTurn();
      }
      if (old.length < foundAtOnce) return;
    }
  }
}
