import type { Config } from '#app/config.ts';
import type { Stores } from '#app/stores/open-stores.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessPositions } from '#process-engine/process-positions.ts';
import { ProcessStatuses } from '#process-engine/process-statuses.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { runProcesses, runProcessesUnderLeases } from './run-processes.ts';

type ProcessStores = Pick<
  Stores,
  | 'events'
  | 'writer'
  | 'documents'
  | 'checkpoints'
  | 'openCheckpoints'
  | 'positions'
  | 'positionSink'
  | 'leases'
  | 'node'
>;

/** How long a process waits for a read model before it retries. A stop takes at most as long. */
const readModelWaitMs = 2_000;

/** The dependencies of processes beside the stores. */
export interface StartProcessesOptions extends ProcessStores {
  readonly log: Logger;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/** Starts the processes that this node runs. @returns the statuses of all processes, whichever node runs them */
export function startProcesses(
  processes: ReadonlyArray<Process>,
  { roles }: Pick<Config, 'roles'>,
  options: StartProcessesOptions,
): ProcessStatuses {
  const { leases, node, openCheckpoints, events: store, writer, documents, checkpoints, positionSink } = options;
  const { positions, log, opened } = options;
  const waitForPosition = async (name: string, position: number) =>
    (await positions.passed({ names: [name] }, position, { strict: true, ms: readModelWaitMs })) === 'reached';
  const report = new ProcessPositions(positionSink, processes);
  const surroundings = { store, writer, documents, checkpoints, waitForPosition, report, log, opened };
  if (leases === null) runProcesses(processes, surroundings);
  else if (roles.has('projections')) {
    runProcessesUnderLeases(processes, { ...surroundings, leases, node, openCheckpoints });
  }
  return new ProcessStatuses({ processes, store, checkpoints });
}
