import type { Config } from '#app/config.ts';
import type { Operation } from '#application/operations/operation.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { Leases } from '#leases/leases.ts';
import { ExclusiveTurns } from '#leases/under-lease.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { archiveUsageOperation } from '#usage/archive/archive-usage-operation.ts';
import { UsageArchive } from '#usage/archive/usage-archive.ts';

/** The longest wait for another node that archives. */
const leaseTimeoutMs = 20_000;

/** The dependencies of the usage archive. */
export interface UsageArchiveDependencies {
  readonly events: Pick<EventStore, 'append' | 'read'> & StreamRemoval;
  readonly blobs: BlobStore;
  readonly leases: Leases | null;
  /** The unique name of this node. */
  readonly node: string;
  readonly log: Logger;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/** Creates the operation that archives metering. One node at a time does that. */
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
