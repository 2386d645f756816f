import type { Config } from '#app/config.ts';
import type { WaitForPosition } from '#app/progress/wait-for-position.ts';
import type { Stores } from '#app/stores/open-stores.ts';
import type { ProcessProgress } from '#application/commands/process-progress.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessStatuses } from '#process-engine/process-statuses.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { runProcesses, runProcessesUnderLeases, watchProcesses } from './run-processes.ts';

/** The processes for requests. */
export interface ProcessesAtWork {
  /** The progress of all processes, whichever node runs them. */
  readonly progress: ReadonlyArray<ProcessProgress>;
  readonly statuses: ProcessStatuses;
}

type ProcessStores = Pick<
  Stores,
  'events' | 'tail' | 'writer' | 'documents' | 'checkpoints' | 'openCheckpoints' | 'leases' | 'node'
>;

/** The dependencies of processes beside the stores. */
export interface StartProcessesOptions extends ProcessStores {
  readonly waitForPosition: WaitForPosition;
  readonly log: Logger;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/** Starts the processes that this node runs. */
export function startProcesses(
  processes: ReadonlyArray<Process>,
  config: Pick<Config, 'roles'>,
  options: StartProcessesOptions,
): ProcessesAtWork {
  const { events: store, tail, checkpoints } = options;
  return {
    progress: progressOf(processes, config, options),
    statuses: new ProcessStatuses({ processes, tail, store, checkpoints }),
  };
}

function progressOf(
  processes: ReadonlyArray<Process>,
  { roles }: Pick<Config, 'roles'>,
  options: StartProcessesOptions,
): ReadonlyArray<ProcessProgress> {
  const { leases, node, openCheckpoints, events: store, tail, writer, documents, checkpoints } = options;
  const { waitForPosition, log, opened } = options;
  const surroundings = { store, tail, writer, documents, checkpoints, waitForPosition, log, opened };
  if (leases === null) return runProcesses(processes, surroundings);
  if (roles.has('projections')) {
    runProcessesUnderLeases(processes, { ...surroundings, leases, node, openCheckpoints });
  }
  return watchProcesses(processes, surroundings);
}
