import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { Leases } from '#leases/leases.ts';
import { onceOnOneNode } from '#leases/once-on-one-node.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { bootstrap, createFirstKey, isBootstrapped } from './bootstrap.ts';
import { asRefusal, waitForStore } from './wait-for-stores.ts';

const lease = 'bootstrap';
/** How long a node waits for another node that makes the first start. */
const timeoutMs = 60_000;

export interface FirstStartOptions {
  readonly writer: StreamWriter;
  /** Null to generate one. */
  readonly givenKey: string | null;
  /** Prints a generated key. */
  readonly printAdminKey: (key: string) => void;
  /** They choose one of the nodes that start together; null for a single node. */
  readonly leases: Leases | null;
  /** The name of this node in its lease. */
  readonly node: string;
  readonly log: Logger;
}

/**
 * Makes the first start. Of several nodes that start together, one does it, so that only one prints a key. @throws
 * StartupError if a store does not answer in time, or refuses the lease
 */
export async function bootstrapEmptyStore(options: FirstStartOptions): Promise<void> {
  const { writer, leases, node, log } = options;
  if (await waitForStore('EVENT_STORE_URL', log, () => isBootstrapped(writer))) return;
  if (leases === null) return begin(options);
  try {
    const { signal } = new AbortController();
    await onceOnOneNode({ name: lease, node, leases, log, signal, timeoutMs }, () => begin(options));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw asRefusal('READ_STORE_URL', error);
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

/** Prints the key to standard output, even if that is not a terminal, because the key is shown only once. */
export function printAdminKey(key: string): void {
  process.stdout.write(`\nThe first admin key, shown this once:\n\n  ${key}\n\n`);
}
