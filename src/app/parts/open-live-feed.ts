import type { KeyResolver } from '#application/access/key-resolver.ts';
import type { EntryReads } from '#application/history/audit-entries.ts';
import { StreamHistory } from '#application/history/stream-history.ts';
import type { StreamingOperation } from '#application/operations/operation.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { keyIn } from '#http/request/request-headers.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import { createFeedOperation } from '#live-feed/feed-operation.ts';
import { type FeedLimits, LiveFeed } from '#live-feed/live-feed.ts';
import { PastEntries } from '#live-feed/past-entries.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Positions } from '#positions/positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { Logger } from '#shared/logging/logger.ts';

export interface OpenLiveFeedOptions {
  readonly events: EventStore;
  readonly tail: LogTail;
  readonly documents: ReadStore;
  readonly personalData: PersonalData;
  readonly keys: KeyResolver;
  readonly metrics: Metrics;
  readonly limits: FeedLimits;
  readonly positions: Positions;
  readonly log: Logger;
}

/** The live feed and the operation that opens it. */
export interface OpenLiveFeed {
  readonly feed: LiveFeed;
  readonly operation: StreamingOperation;
}

/** Creates the live feed of a node. It follows the log only while a client reads it. */
export function openLiveFeed(options: OpenLiveFeedOptions): OpenLiveFeed {
  const { events: store, tail, documents, personalData, keys, metrics, limits, positions, log } = options;
  const reads = {
    history: new StreamHistory(store),
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
