import { LRUCache } from 'lru-cache';
import { type StreamGap, UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import type { Logger } from '#shared/logging/logger.ts';

const maxStreams = 10_000;
const intervalMs = 60 * 60 * 1000;

/** Logs each unreadable stream at most once an hour. */
export class UnreadableStreams {
  readonly #log: Pick<Logger, 'error'>;
  readonly #logged = new LRUCache<string, true>({ max: maxStreams, ttl: intervalMs });

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** @param reason the likely reason, as the end of a sentence */
  errorOf(gap: StreamGap, reason: string): UnreadableStreamError {
    const { stream, expectedRevision, foundRevision } = gap;
    if (!this.#logged.has(stream)) {
      this.#logged.set(stream, true);
      this.#log.error(
        { stream, expectedRevision, firstRevision: foundRevision, reason },
        'A stream lacks events: it is neither read nor written until an operator repairs it',
      );
    }
    return new UnreadableStreamError(gap, reason, true);
  }
}
