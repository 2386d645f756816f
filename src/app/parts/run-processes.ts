import type { Config } from '#app/config.ts';
import { BridgedProcessProgress } from '#app/progress/bridge-process-progress.ts';
import type { WaitForPosition } from '#app/progress/wait-for-position.ts';
import type { Stores } from '#app/stores/open-stores.ts';
import type { ProcessProgress } from '#application/commands/process-progress.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessHost } from '#process-engine/process-host.ts';
import { ProcessStatuses } from '#process-engine/process-statuses.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** The processes for requests. */
export interface ProcessesAtWork {
  /** The progress of all processes, whichever node runs them. */
  readonly progress: ReadonlyArray<ProcessProgress>;
  readonly statuses: ProcessStatuses;
}

/** The dependencies of processes. */
export interface RunProcessesOptions
  extends Pick<Stores, 'events' | 'tail' | 'writer' | 'documents' | 'checkpoints' | 'leases' | 'earlier' | 'node'> {
  readonly waitForPosition: WaitForPosition;
  readonly log: Logger;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/** Runs the processes if this node has the role for it, on one node at a time. */
export function runProcesses(
  processes: ReadonlyArray<Process>,
  { roles }: Pick<Config, 'roles'>,
  options: RunProcessesOptions,
): ProcessesAtWork {
  const { events: store, tail, checkpoints, leases, earlier, opened } = options;
  const positions = new BridgedProcessProgress(processes, leases === null ? null : checkpoints);
  opened.defer(() => positions.close());
  if (processes.length > 0 && (leases === null || roles.has('projections'))) {
    const beforeTerm = async (signal: AbortSignal) => earlier?.takeOver(signal);
    const host = new ProcessHost({ ...options, processes, store, beforeTerm, positions });
    host.start();
    opened.defer(() => host.stop());
  }
  return { progress: positions.progress, statuses: new ProcessStatuses({ processes, store, tail, checkpoints }) };
}
