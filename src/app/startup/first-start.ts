import type { StreamWriter } from '#application/commands/stream-writer.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import { onceUnderLease } from '#leases/once-under-lease.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { bootstrap, createFirstKey, isBootstrapped } from './bootstrap.ts';
import { waitForStore } from './wait-for-store.ts';

const lease = 'bootstrap';
/** How long a node waits for another that makes the first start. */
const timeoutMs = 60_000;

export interface FirstStartOptions {
  readonly writer: StreamWriter;
  /** The first admin key's text; null to make one. */
  readonly givenKey: string | null;
  /** Is handed the key that is made. */
  readonly printAdminKey: (key: string) => void;
  /** Where nodes that start at once agree on which of them does it; null where there is one alone. */
  readonly leases: LeaseStore | null;
  /** This node, as its lease shows it. */
  readonly node: string;
  readonly log: Logger;
}

/**
 * Bootstraps an empty store. One node does it, once, so that only one of several that start together prints a key.
 * @throws StartupError when a store does not answer in time
 */
export async function bootstrapEmptyStore(options: FirstStartOptions): Promise<void> {
  const { writer, leases, node, log } = options;
  if (await waitForStore('EVENT_STORE_URL', log, () => isBootstrapped(writer))) return;
  if (leases === null) return begin(options);
  try {
    const { signal } = new AbortController();
    await onceUnderLease({ name: lease, holder: node, leases, log, signal, timeoutMs }, () => begin(options));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    throw new StartupError(
      `READ_STORE_URL: no node could make the first start within ${timeoutMs / 1000} s. Check that the store runs.`,
    );
  }
}

async function begin({ writer, givenKey, printAdminKey, log }: FirstStartOptions): Promise<void> {
  const key = createFirstKey(givenKey, printAdminKey);
  const isFirst = await waitForStore('EVENT_STORE_URL', log, () => bootstrap(writer, key));
  if (!isFirst) log.warn({}, 'Another node has made the first admin key meanwhile: the key printed here is void');
}
