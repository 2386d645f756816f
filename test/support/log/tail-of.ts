import type { EventBatch } from '#event-store/event-store.ts';
import type { LogPages } from '#event-store/log-pages.ts';
import { type FollowOptions, LogTail } from '#event-store/log-tail.ts';
import type { Logger } from '#shared/logging/logger.ts';

const quiet: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Creates a tail of a log that writes no log lines. The test closes it, or ends all its followers. */
export function tailOf(pages: LogPages, log: Logger = quiet): LogTail {
  return new LogTail({ pages, log });
}

/** Creates such a tail of a log that is never behind. */
export function tailInMemory(pages: LogPages): LogTail {
  return new LogTail({ pages, log: quiet, graceMs: 0 });
}

/** What a test wants of a log. */
export type BatchesOptions = Pick<FollowOptions, 'types' | 'maxEvents' | 'signal'> & { readonly after: number };

/** Gives the batches of a new follower, one at a time, until the signal aborts or the tail is closed. */
export async function* batchesOf(
  tail: Pick<LogTail, 'follow'>,
  { signal, ...options }: BatchesOptions,
): AsyncGenerator<EventBatch, void, void> {
  const ending = new AbortController();
  const offered: Array<{ readonly batch: EventBatch; readonly next: () => void }> = [];
  let wake = () => {};
  let hasEnded = false;
  const following = tail.follow({
    ...options,
    name: 'The test',
    handle: (batch) =>
      new Promise<void>((next) => {
        offered.push({ batch, next });
        wake();
      }),
    signal: AbortSignal.any([signal, ending.signal]),
  });
  const end = () => {
    hasEnded = true;
    wake();
  };
  signal.addEventListener('abort', end, { once: true });
  void following.ended.then(end, end);
  try {
    while (!signal.aborted) {
      const offer = offered.shift();
      if (offer !== undefined) {
        yield offer.batch;
        offer.next();
        continue;
      }
      if (hasEnded) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    signal.removeEventListener('abort', end);
    ending.abort();
    for (const { next } of offered) next();
    await following.ended;
  }
}
