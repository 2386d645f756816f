import type { StreamWriter } from '#application/commands/stream-writer.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import { underLease } from '#leases/under-lease.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { Log } from '#shared/logging/read-store-log.ts';
import { bootstrap, createFirstKey, isBootstrapped } from './bootstrap.ts';
import { waitForStore } from './wait-for-store.ts';

const lease = 'bootstrap';
/** How long a node waits for another that makes the first start. */
const limitMilliseconds = 60_000;

export interface FirstStartOptions {
  readonly handler: StreamWriter;
  /** The first admin key's text; null to make one. */
  readonly givenKey: string | null;
  /** Is handed the key that is made. */
  readonly printAdminKey: (key: string) => void;
  /** Where nodes that start at once agree on which of them does it; null where there is one alone. */
  readonly leases: LeaseStore | null;
  /** This node, as its lease shows it. */
  readonly node: string;
  readonly log: Log;
}

/**
 * Begins an empty store, which one node does once: so that of several that start together only one tells a key.
 * @throws StartupError when a store does not answer in time
 */
export async function bootstrapEmptyStore(options: FirstStartOptions): Promise<void> {
  const { handler, leases, node, log } = options;
  if (await waitForStore('EVENT_STORE_URL', log, () => isBootstrapped(handler))) return;
  if (leases === null) return begin(options);
  const done = new AbortController();
  const late = AbortSignal.timeout(limitMilliseconds);
  await underLease({
    name: lease,
    holder: node,
    leases,
    log,
    signal: AbortSignal.any([done.signal, late]),
    work: async () => {
      await begin(options);
      done.abort();
    },
  });
  if (!done.signal.aborted) {
    throw new StartupError(
      `READ_STORE_URL: no node could make the first start within ${limitMilliseconds / 1000} s. Check that the store runs.`,
    );
  }
}

async function begin({ handler, givenKey, printAdminKey, log }: FirstStartOptions): Promise<void> {
  const key = createFirstKey(givenKey, printAdminKey);
  const isFirst = await waitForStore('EVENT_STORE_URL', log, () => bootstrap(handler, key));
  if (!isFirst) log.warn({}, 'Another node has made the first admin key meanwhile: the one told here is void');
}
