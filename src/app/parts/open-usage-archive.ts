import type { Config } from '#app/config.ts';
import type { Operation } from '#application/operations/operation.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import { ExclusiveTurns } from '#leases/exclusive-turns.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { archiveUsageOperation } from '#usage/archive/archive-usage-operation.ts';
import { UsageArchive } from '#usage/archive/usage-archive.ts';

/** For another node that archives. */
const leaseTimeoutMs = 20_000;

/** What metering is archived from and into. */
export interface UsageArchiveDependencies {
  readonly events: Pick<EventStore, 'append' | 'read'> & StreamRemoval;
  readonly blobs: BlobStore;
  readonly leases: LeaseStore | null;
  /** This node's name, unlike any other's. */
  readonly node: string;
  readonly log: Logger;
  /** Takes what must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/** The operation that archives metering: one node at a time does. */
export function openUsageArchive(
  { limits: { maxAppendBytes } }: Pick<Config, 'limits'>,
  { events, blobs, leases, node, log, opened }: UsageArchiveDependencies,
): Operation<null> {
  const archive = new UsageArchive({ events, blobs, maxAppendBytes, log, now: () => new Date() });
  const turns = new ExclusiveTurns({ name: 'usage-archive', leases, node, log, timeoutMs: leaseTimeoutMs });
  opened.defer(() => turns.stop());
  return archiveUsageOperation({
    latest: () => archive.latest(),
    archive: (before) => turns.run((signal) => archive.archive(before, signal)),
  });
}
