import type { Config } from '#app/config.ts';
import type { Stores } from '#app/stores/open-stores.ts';
import { areShown } from '#positions/positions.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessHost } from '#process-engine/process-host.ts';
import { ProcessStatuses } from '#process-engine/process-statuses.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** How long a process waits for a read model before it retries. A stop takes at most as long. */
const readModelWaitMs = 2_000;

type ProcessStores = Pick<
  Stores,
  | 'events'
  | 'tail'
  | 'writer'
  | 'documents'
  | 'checkpoints'
  | 'leases'
  | 'earlier'
  | 'node'
  | 'positions'
  | 'positionSink'
>;

/** The dependencies of processes. */
export interface RunProcessesOptions extends ProcessStores {
  readonly log: Logger;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/**
 * Runs the processes if this node has the role for it, on one node at a time.
 * @returns the statuses of all processes, whichever node runs them
 */
export function runProcesses(
  processes: ReadonlyArray<Process>,
  { roles }: Pick<Config, 'roles'>,
  options: RunProcessesOptions,
): ProcessStatuses {
  const { events: store, tail, checkpoints, leases, earlier, positions, positionSink, opened } = options;
  if (processes.length > 0 && (leases === null || roles.has('projections'))) {
    const host = new ProcessHost({
      ...options,
      processes,
      store,
      positions: positionSink,
      beforeTerm: async (signal) => earlier?.takeOver(signal),
      waitForPosition: (name, position) => areShown(positions, [name], position, { ms: readModelWaitMs }),
    });
    host.start();
    opened.defer(() => host.stop());
  }
  return new ProcessStatuses({ processes, store, tail, checkpoints });
}
