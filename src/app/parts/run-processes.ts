import type { Runtime } from '#app/runtime.ts';
import { areShown } from '#positions/positions.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessHost } from '#process-engine/process-host.ts';
import { ProcessStatuses } from '#process-engine/process-statuses.ts';

/** How long a process waits for a read model before it retries. A stop takes at most as long. */
const readModelWaitMs = 2_000;

/**
 * Runs the processes if this node has the role for it, on one node at a time.
 * @returns the statuses of all processes, whichever node runs them
 */
export function runProcesses(processes: ReadonlyArray<Process>, runtime: Runtime): ProcessStatuses {
  const { config, events: store, tail, checkpoints, leases, positions, positionSink, opened } = runtime;
  if (processes.length > 0 && (leases === null || config.roles.has('projections'))) {
    const host = new ProcessHost({
      ...runtime,
      processes,
      store,
      positions: positionSink,
      waitForPosition: (name, position) => areShown(positions, [name], position, { ms: readModelWaitMs }),
    });
    host.start();
    opened.defer(() => host.stop());
  }
  return new ProcessStatuses({ processes, store, tail, checkpoints });
}
