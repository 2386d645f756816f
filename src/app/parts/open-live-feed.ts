import type { Runtime } from '#app/runtime.ts';
import type { KeyResolver } from '#application/access/key-resolver.ts';
import type { EntryReads } from '#application/history/audit-entries.ts';
import type { StreamingOperation } from '#application/operations/operation.ts';
import { keyIn } from '#http/request/request-headers.ts';
import { createFeedOperation } from '#live-feed/feed-operation.ts';
import { LiveFeed } from '#live-feed/live-feed.ts';
import { PastEntries } from '#live-feed/past-entries.ts';

/** The live feed and the operation that opens it. */
export interface OpenLiveFeed {
  readonly feed: LiveFeed;
  readonly operation: StreamingOperation;
}

/** Creates the live feed of a node. It follows the log only while a client reads it. */
export function openLiveFeed(runtime: Runtime, keys: KeyResolver): OpenLiveFeed {
  const { config, events: store, tail, documents, personalData, metrics, positions, history, log } = runtime;
  const limits = config.limits.feeds;
  const reads = {
    history,
    personalReader: (subjects) => personalData.readerOf(subjects),
  } satisfies EntryReads;
  const past = new PastEntries({ documents, reads, positions });
  const feed = new LiveFeed({ tail, store, reads, past, limits, log });
  metrics.watchGauge('switchyard_live_feeds', 'Live feeds that are open on this node', () => feed.size);
  const operation = createFeedOperation({
    feed,
    isKeyValid: async (headers) => {
      const key = keyIn(headers);
      return key !== null && (await keys.resolve(key, 'query')) !== null;
    },
  });
  return { feed, operation };
}
