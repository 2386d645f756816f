import type { Runtime } from '#app/runtime.ts';
import type { Operation } from '#application/operations/operation.ts';
import { LeaseMutex } from '#leases/lease-mutex.ts';
import { clock } from '#shared/clock.ts';
import { archiveUsageOperation } from '#usage/archive/archive-usage-operation.ts';
import { UsageArchive, type UsageArchiveOptions } from '#usage/archive/usage-archive.ts';

const name = 'usage-archive';
/** How long a node waits for another node that archives. */
const leaseTimeoutMs = 20_000;

/** One node at a time archives metering. */
export function openUsageArchive({ config, events, blobs, leases, node, log, opened }: Runtime): Operation<null> {
  const { maxAppendBytes } = config.limits;
  const openArchive = (stores: Pick<UsageArchiveOptions, 'events' | 'blobs'>) =>
    new UsageArchive({ ...stores, maxAppendBytes, log, now: () => new Date(clock.time()) });
  const turns = new LeaseMutex({ name, leases, node, log, timeoutMs: leaseTimeoutMs });
  opened.addWork(name, () => turns.stop());
  return archiveUsageOperation({
    latest: () => openArchive({ events, blobs }).latest(),
    archive: (before) =>
      turns.run(({ guard, signal }) =>
        openArchive({ events: guard(events), blobs: guard(blobs) }).archive(before, signal),
      ),
  });
}
