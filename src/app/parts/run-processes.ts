import type { Runtime } from '#app/runtime.ts';
import { areShown } from '#positions/positions.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessHost } from '#process-engine/process-host.ts';
import { ProcessStatuses } from '#process-engine/process-statuses.ts';

/**
 * Runs the processes on one node at a time, if this node has the role for it.
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
      waitForPosition: (name, position, limits) => areShown(positions, [name], position, limits),
    });
    host.start();
    opened.addWork('processes', () => host.stop());
  }
  return new ProcessStatuses({ processes, store, tail, checkpoints });
}
