import type { Runtime } from '#app/runtime.ts';
import type { KeyResolver } from '#application/access/key-resolver.ts';
import type { PageSessions } from '#application/access/page-sessions.ts';
import type { EntryReads } from '#application/history/audit-entries.ts';
import type { StreamingOperation } from '#application/operations/operation.ts';
import { keyIn } from '#http/request/request-headers.ts';
import type { SessionCookie } from '#http/request/session-cookie.ts';
import { createFeedOperation } from '#live-feed/feed-operation.ts';
import { LiveFeed } from '#live-feed/live-feed.ts';
import { PastEntries } from '#live-feed/past-entries.ts';

export interface OpenLiveFeed {
  readonly feed: LiveFeed;
  readonly operation: StreamingOperation;
}

/** Decides whether the caller of an open feed may still read it. */
export interface FeedAccess {
  readonly keys: Pick<KeyResolver, 'resolve'>;
  readonly sessions: Pick<PageSessions, 'isValid'>;
  readonly sessionCookie: Pick<SessionCookie, 'tokenIn'>;
}

/** Follows the log only while a client reads it. */
export function openLiveFeed(runtime: Runtime, { keys, sessions, sessionCookie }: FeedAccess): OpenLiveFeed {
  const { admission, events: store, tail, documents, personalData, metrics, positions, history, log } = runtime;
  const reads = {
    history,
    personalReader: (subjects) => personalData.readerOf(subjects),
  } satisfies EntryReads;
  const past = new PastEntries({ admission, documents, reads, positions });
  const feed = new LiveFeed({ admission, tail, store, reads, past, log });
  metrics.watchGauge('switchyard_live_feeds', 'Live feeds that are open on this node', () => feed.size);
  const operation = createFeedOperation({
    feed,
    isKeyValid: async (headers) => {
      const key = keyIn(headers);
      if (key !== null) return (await keys.resolve(key, 'query')) !== null;
      const token = sessionCookie.tokenIn(headers);
      return token !== null && (await sessions.isValid(token));
    },
  });
  return { feed, operation };
}
