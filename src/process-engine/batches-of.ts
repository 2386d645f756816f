import type { EventBatch } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';

/** Gives the log from a position on, then live, until the signal aborts. */
export async function* batchesOf(
  tail: Pick<LogTail, 'follow'>,
  { after, types, signal }: { after: number; types: ReadonlyArray<string>; signal: AbortSignal },
): AsyncGenerator<EventBatch, void, void> {
  const ending = new AbortController();
  let offer = Promise.withResolvers<EventBatch | null>();
  let taken = Promise.withResolvers<void>();
  const following = tail.follow({
    ...{ name: 'A process', after, types },
    handle: (batch) => {
      offer.resolve(batch);
      return taken.promise;
    },
    signal: AbortSignal.any([signal, ending.signal]),
  });
  void following.ended.then(() => offer.resolve(null));
  try {
    for (;;) {
      const batch = await offer.promise;
      if (batch === null) return;
      offer = Promise.withResolvers();
      yield batch;
      const previous = taken;
      taken = Promise.withResolvers();
      previous.resolve();
    }
  } finally {
    ending.abort();
    taken.resolve();
    await following.ended;
  }
}
